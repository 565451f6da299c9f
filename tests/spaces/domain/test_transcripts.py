import json

import pytest

from spaces.domain.transcripts import is_transcript

CHAT = "\n".join(f"{who}: something was said" for who in ("User", "Assistant") * 3)


@pytest.mark.parametrize(
    "text",
    [
        CHAT,
        CHAT.replace("User", "**Human**").replace("Assistant", "**AI**"),
        CHAT.replace("User", "[12:01] user").replace("Assistant", "> 12:02 assistant"),
        CHAT.replace("User", "ユーザー").replace("Assistant", "アシスタント").replace(":", "："),
        CHAT.replace("User", "Ana").replace("Assistant", "Bruno Díaz"),
        f"What we did today\n\n{CHAT}\n\nThe end.",
        json.dumps([{"role": "user", "content": "hi"}, {"role": "assistant", "content": "hello"}]),
        json.dumps({"messages": [{"role": "user", "parts": ["hi"]}]}, indent=2),
        '{"role": "user", "content": "a"}\n{"role": "assistant", "content": "b"}',
    ],
)
def test_turns_are_a_transcript(text: str) -> None:
    assert is_transcript(text)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "We moved the deploy window to Tuesday.",
        CHAT.rpartition("\n")[0],
        "\n".join(f"Decision: number {n}" for n in range(10)),
        "\n".join(
            f"{name}: done" for name in ("Backend", "Frontend", "Docs", "Tests", "CI", "Billing", "Ops")
        ),
        "\n".join(f"Done: a{n}\nNext: b{n}\nWhy: c{n}" for n in range(4)),
        "\n".join(f"https://example.com/{n}" for n in range(8)),
        '{"name": "x", "version": 1}',
        '[{"role": "admin"}, {"role": "viewer"}]',
        "{not json",
    ],
)
def test_prose_lists_and_other_json_are_not(text: str) -> None:
    assert not is_transcript(text)
