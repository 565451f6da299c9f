from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from actions.connectors.slack import MENTION, call, normalise, unresolved
from memoryhub.common.errors import ValidationFailed

UTC = ZoneInfo("UTC")
MARKER = "act_" + "0" * 32


def text_of(message: str, *mentions: str) -> str:
    return normalise({"channel": "#x", "message": message, "mentions": list(mentions)}, UTC)["text"]


def test_a_plain_message_is_taken_literally() -> None:
    assert text_of("1 < 2 & <https://evil.example|our bank> <@U012345>") == (
        "1 &lt; 2 &amp; &lt;https://evil.example|our bank&gt; &lt;@U012345&gt;"
    )


def test_a_mention_is_one_only_where_it_is_listed() -> None:
    assert (
        text_of("<@U012345> <!channel> <!here>", "U012345", "here") == "<@U012345> &lt;!channel&gt; <!here>"
    )
    assert normalise({"channel": "#x", "message": "<!here>", "mentions": ["here", "channel"]}, UTC)[
        "mentions"
    ] == ["here"]


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        ("general", "#general"),
        ("#launch-2026", "#launch-2026"),
        (" C0123456789 ", "C0123456789"),
        ("#会議", "#会議"),
    ],
)
def test_a_channel_is_a_name_or_an_id(given: str, kept: str) -> None:
    payload = normalise({"channel": given, "message": "x"}, UTC)
    assert payload["channel"] == kept
    assert unresolved(payload) == ["channel"]
    assert unresolved({**payload, "channel_name": "#looked-up"}) == []


def test_what_a_channel_is_called_only_slack_can_say() -> None:
    given = {"channel": "C0123456789", "message": "x", "channel_name": "#harmless"}
    assert "channel_name" not in normalise(given, UTC)


@pytest.mark.parametrize(
    ("payload", "named"),
    [
        ({"message": "x"}, "payload.channel"),
        ({"channel": "#General", "message": "x"}, "payload.channel"),
        ({"channel": "#a b", "message": "x"}, "payload.channel"),
        ({"channel": "@ann", "message": "x"}, "payload.channel"),
        ({"channel": "#x"}, "payload.message"),
        ({"channel": "#x", "message": "a", "text": "b"}, "payload.message"),
        ({"channel": "#x", "message": " \u200b"}, "payload.message"),
        ({"channel": "#x", "message": "&" * 8001}, "payload.message"),
        ({"channel": "#x", "message": 5}, "payload.message"),
        ({"channel": "#x", "message": "x", "as_user": True}, "payload.as_user"),
        ({"channel": "#x", "text": "a < b"}, "payload.text"),
        ({"channel": "#x", "text": "<http://x|y>"}, "payload.text"),
        ({"channel": "#x", "text": "AT&T"}, "payload.text"),
        ({"channel": "#x", "text": "<!channel>"}, "payload.mentions"),
        ({"channel": "#x", "message": "x", "mentions": ["all"]}, "payload.mentions[0]"),
        ({"channel": "#x", "message": "x", "thread_ts": "now"}, "payload.thread_ts"),
    ],
)
def test_what_slack_would_not_take_as_it_is_meant_is_refused_by_its_field(payload: dict, named: str) -> None:
    with pytest.raises(ValidationFailed) as refusal:
        normalise(payload, UTC)
    assert list(refusal.value.fields) == [named]


@given(st.text(min_size=1), st.lists(st.sampled_from(["U012345", "here", "channel", "everyone"]), max_size=4))
def test_whatever_is_said_reads_the_same_again_and_notifies_nobody_unlisted(
    message: str, listed: list[str]
) -> None:
    try:
        payload = normalise(
            {"channel": "#x", "message": f"{message}<!here> <@U012345>", "mentions": listed}, UTC
        )
    except ValidationFailed:
        return
    assert normalise(payload, UTC) == payload
    assert {m[1] or m[2] or m[3] for m in MENTION.finditer(payload["text"])} <= set(listed)


def test_the_call_unfurls_nothing_and_carries_the_action() -> None:
    payload = normalise({"channel": "C0123456789", "message": "Hi", "thread_ts": "1700000000.000100"}, UTC)
    made = call(payload, MARKER)
    assert (made.method, made.path) == ("POST", "/api/chat.postMessage")
    assert made.body == {
        "channel": "C0123456789",
        "text": "Hi",
        "parse": "none",
        "link_names": False,
        "unfurl_links": False,
        "unfurl_media": False,
        "thread_ts": "1700000000.000100",
        "metadata": {"event_type": "memory_hub_action", "event_payload": {"id": MARKER}},
    }
