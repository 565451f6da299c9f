from typing import Any
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from actions.connectors.notion import call, normalise, unresolved
from memoryhub.common.errors import ValidationFailed

UTC = ZoneInfo("UTC")
MARKER = "act_" + "4" * 32
PAGE = {"parent_id": "a" * 32, "title": "Plan"}
MARKDOWN = """# One

Two **bold _both_** `code` [site](https://example.org)
<img src=x onerror=alert(1)> ![i](http://evil.example/p.png) [bad](javascript:alert(1))

- a
  - b
1. c

> q

---
```py
x = 1
```
"""


def children(content: str) -> list[dict[str, Any]]:
    return normalise({**PAGE, "content": content}, UTC).get("children", [])


def texts(block: dict[str, Any]) -> str:
    return "".join(run["text"]["content"] for run in block[block["type"]].get("rich_text", []))


def test_markdown_becomes_blocks_and_what_has_no_block_stays_text() -> None:
    assert [(b["type"], texts(b)) for b in children(MARKDOWN)] == [
        ("heading_1", "One"),
        (
            "paragraph",
            "Two bold both code site\n<img src=x onerror=alert(1)> !i [bad](javascript:alert(1))",
        ),
        ("bulleted_list_item", "a"),
        ("bulleted_list_item", "b"),
        ("numbered_list_item", "c"),
        ("quote", "q"),
        ("divider", ""),
        ("code", "x = 1"),
    ]
    assert children(MARKDOWN)[-1]["code"]["language"] == "python"


def test_styles_and_links_are_runs_of_their_own() -> None:
    [block] = children("a **b _c_** `d` [e](https://x.example)")
    runs = block["paragraph"]["rich_text"]
    assert [(r["text"]["content"], r.get("annotations"), r["text"].get("link")) for r in runs] == [
        ("a ", None, None),
        ("b ", {"bold": True}, None),
        ("c", {"bold": True, "italic": True}, None),
        (" ", None, None),
        ("d", {"code": True}, None),
        (" ", None, None),
        ("e", None, {"url": "https://x.example"}),
    ]


def test_long_text_is_cut_where_notion_counts_and_never_inside_a_character() -> None:
    [block] = children("x" * 1_999 + "😀" + "y" * 2_000)
    assert [len(r["text"]["content"]) for r in block["paragraph"]["rich_text"]] == [1_999, 1_999, 2]


def test_a_page_that_needs_a_second_call_is_refused() -> None:
    assert len(children("\n\n".join("p" * 99))) == 99
    with pytest.raises(ValidationFailed, match="100 blocks"):
        children("\n\n".join("p" * 100))


@pytest.mark.parametrize(
    ("change", "named"),
    [
        ({"parent_id": "x"}, "payload.parent_id"),
        ({"title": ""}, "payload.title"),
        ({"parent_type": "workspace"}, "payload.parent_type"),
        ({"content": "a", "children": [{"object": "block", "type": "divider", "divider": {}}]}, "payload.content"),
        ({"children": [{"object": "block", "type": "image", "image": {}}]}, "payload.children[0].image"),
        ({"children": [{"object": "block", "type": "divider"}]}, "payload.children[0]"),
        ({"children": [{"object": "block", "type": "code", "code": {"rich_text": []}}]}, "payload.children[0]"),
        (
            {"children": [{"object": "block", "type": "quote", "quote": {"rich_text": [{"type": "text", "text": {
                "content": "x", "link": {"url": "javascript:x"}}}]}}]},
            "payload.children[0]",
        ),
    ],
)  # fmt: skip
def test_what_notion_would_not_take_is_refused_by_its_field(change: dict, named: str) -> None:
    with pytest.raises(ValidationFailed) as refusal:
        normalise({**PAGE, **change}, UTC)
    assert list(refusal.value.fields) == [named]


@given(st.text(alphabet=st.sampled_from("ab*_`[]()<>#-1. \n>!\\&😀h:/"), max_size=120))
def test_whatever_is_written_reads_the_same_again(content: str) -> None:
    payload = normalise({**PAGE, "content": content}, UTC)
    assert normalise(payload, UTC) == payload


def test_the_call_ends_in_a_line_by_which_the_page_is_found() -> None:
    payload = normalise({**PAGE, "parent_type": "database"}, UTC)
    assert call(payload, MARKER).body == {
        "parent": {"database_id": "aaaaaaaa-aaaa-aaaa-aaaa-aaaaaaaaaaaa"},
        "properties": {"title": {"title": [{"type": "text", "text": {"content": "Plan"}}]}},
        "children": [
            {
                "object": "block",
                "type": "paragraph",
                "paragraph": {"rich_text": [{"type": "text", "text": {"content": f"Memory Hub {MARKER}"}}]},
            }
        ],
    }
    assert unresolved(normalise(PAGE, UTC)) == ["parent_type"]
