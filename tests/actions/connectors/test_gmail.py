import base64
from email import message_from_bytes, policy
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from actions.connectors.gmail import call, normalise, unresolved
from memoryhub.common.errors import ValidationFailed

UTC = ZoneInfo("UTC")
MARKER = "act_" + "1" * 32
WHOLE = {
    "thread_id": "18C0FFEE",
    "to": ["Ann@Example.ORG"],
    "cc": ["bo@example.org", "bo@example.org"],
    "subject": "Re: Verträge",
    "in_reply_to": "<m1@mail.example>",
    "references": ["<m0@mail.example>", "<m1@mail.example>"],
    "body": "Good.\r\nSee you.",
}


def sent(payload: dict) -> tuple[dict, bytes]:
    body = call(payload, MARKER).body
    return body, base64.urlsafe_b64decode(body["raw"])


def test_a_whole_reply_goes_out_as_it_was_shown() -> None:
    payload = normalise(WHOLE, UTC)
    assert (payload["to"], payload["cc"]) == (["Ann@example.org"], ["bo@example.org"])
    body, raw = sent(payload)
    letter = message_from_bytes(raw, policy=policy.default)
    assert body["threadId"] == "18c0ffee"
    assert {name: str(letter[name]) for name in letter} == {
        "To": "Ann@example.org",
        "Cc": "bo@example.org",
        "Subject": "Re: Verträge",
        "In-Reply-To": "<m1@mail.example>",
        "References": "<m0@mail.example> <m1@mail.example>",
        "X-Memory-Hub-Action": MARKER,
        "Content-Type": 'text/plain; charset="utf-8"',
        "Content-Transfer-Encoding": "base64",
        "MIME-Version": "1.0",
    }
    assert letter.get_payload(decode=True) == b"Good.\r\nSee you.\r\n"
    assert sent(payload)[1] == raw


def test_what_the_thread_has_to_tell_is_named() -> None:
    assert unresolved(normalise({"thread_id": "a1", "body": "Yes."}, UTC)) == [
        "to",
        "subject",
        "in_reply_to",
        "references",
    ]
    assert unresolved(normalise(WHOLE, UTC)) == []


@pytest.mark.parametrize(
    ("change", "named"),
    [
        ({"thread_id": "../x"}, "payload.thread_id"),
        ({"body": " \n"}, "payload.body"),
        ({"body": "x" * 25_001}, "payload.body"),
        ({"to": ["Ann <ann@example.org>"]}, "payload.to[0]"),
        ({"to": ["ann@example.org\r\nBcc: x@evil.example"]}, "payload.to[0]"),
        ({"cc": ["ok@example.org", "ann@exämple.org"]}, "payload.cc[1]"),
        ({"to": ["ann@localhost"]}, "payload.to[0]"),
        ({"subject": "Re: x\r\nBcc: x@evil.example"}, "payload.subject"),
        ({"subject": "Re: x\u2028y"}, "payload.subject"),
        ({"in_reply_to": "<a b@c>"}, "payload.in_reply_to"),
        ({"references": ["<a@b>\n<c@d>"]}, "payload.references[0]"),
        ({"bcc": ["x@evil.example"]}, "payload.bcc"),
    ],
)
def test_no_header_can_be_smuggled_in(change: dict, named: str) -> None:
    with pytest.raises(ValidationFailed) as refusal:
        normalise({**WHOLE, **change}, UTC)
    assert list(refusal.value.fields) == [named]


@given(subject=st.text(min_size=1, max_size=300), body=st.text(min_size=1, max_size=300))
def test_whatever_is_written_arrives_and_adds_no_header(subject: str, body: str) -> None:
    try:
        payload = normalise({**WHOLE, "subject": subject, "body": body}, UTC)
    except ValidationFailed:
        return
    assert normalise(payload, UTC) == payload
    letter = message_from_bytes(sent(payload)[1], policy=policy.default)
    assert len(letter.keys()) == 9
    arrived = letter.get_payload(decode=True).decode()
    assert arrived.replace("\r\n", "\n").removesuffix("\n") == payload["body"].removesuffix("\n")
