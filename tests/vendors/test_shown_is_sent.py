"""What a person is shown, value for value, is what arrives at the vendor."""

import json
import random
from collections.abc import Callable
from typing import Any
from urllib.parse import parse_qs, unquote, urlencode
from zoneinfo import ZoneInfo

import pytest

from actions.connectors import CONNECTORS
from actions.domain.preview import preview
from memoryhub.common.canonical import canonical_json
from memoryhub.common.errors import ValidationFailed
from memoryhub.common.ids import new_id, typed_id
from tests.vendors.fakes import FAKES, Gmail, Notion, Slack
from tests.vendors.server import TOKEN, Asked, Vendor

ZONE = ZoneInfo("Asia/Jerusalem")
PIECES = [
    "hello", " ", "\n", "\r\n", "é", "日本語", "😀", "👩‍👩‍👧", "\u202e", "\u200b", "<b>", "&amp;", "<!channel>", "@ann",
    "*x*", "`c`", "[t](https://e.example/)", "# ", "- ", "> ", "1. ", "---\n", "```\n", "\\", '"', "'", "\t", "{{x}}",
    "=1+1", "https://xn--e1afmkfd.example/?q=1", "מזל", "closes #1", "x" * 60, "\u2028", "%0d%0a", "--",
]  # fmt: skip


def text(draw: random.Random, most: int = 12) -> str:
    return "".join(draw.choices(PIECES, k=draw.randint(1, most)))


def line(draw: random.Random) -> str:
    return " ".join(text(draw, 6).split())[:200] or "x"


def moment(draw: random.Random, hour: int) -> str:
    day = f"20{draw.randint(24, 40)}-{draw.randint(1, 12):02}-{draw.randint(1, 28):02}"
    return f"{day}T{hour:02}:{draw.randint(0, 59):02}"


def address(draw: random.Random) -> str:
    return f"{draw.choice(['ann', 'b.o', 'c+d'])}@{draw.choice(['acme.example', 'Evil.Example'])}"


def random_event(draw: random.Random) -> dict[str, Any]:
    start = moment(draw, draw.randint(5, 9))
    if draw.random() < 0.2:
        edges = {"start": start[:10], "end": f"2041{start[4:10]}"}
    else:
        edges = {"start": start + draw.choice(["", "Z", "+05:30"]), "end": start[:10] + "T23:59Z"}
    return {
        "title": line(draw), **edges, "description": text(draw), "location": line(draw),
        "attendees": [address(draw) for _ in range(draw.randint(0, 3))], "notify": draw.random() < 0.5,
        "calendar_id": draw.choice(["primary", "team@group.example"]),
    }  # fmt: skip


MAKERS: dict[str, Callable[[random.Random], dict[str, Any]]] = {
    "slack.send": lambda draw: {
        "channel": draw.choice(["C0GENERAL1", "C0LAUNCH01"]),
        "message": text(draw),
        "mentions": draw.sample(["channel", "here", "U012345"], draw.randint(0, 2)),
    },
    "gmail.reply": lambda draw: {
        "thread_id": "18c0ffee", "body": text(draw), "to": [address(draw)], "cc": [address(draw)],
        "subject": "Re: Contract", "in_reply_to": "<m1@mail.example>", "references": ["<m1@mail.example>"],
    },
    "calendar.create": random_event,
    "github.create_issue": lambda draw: {
        "repo": "octo/hello", "title": line(draw), "body": text(draw), "labels": [line(draw)[:50].strip() or "x"],
    },
    "notion.create_page": lambda draw: {
        "parent_id": "a" * 32, "parent_type": "page", "title": line(draw), "content": text(draw, 30),
    },
}  # fmt: skip


def received(name: str, vendor: Vendor, asked: Asked) -> dict[str, Any]:
    """The payload, told back from what the vendor holds alone."""
    made = vendor.made[-1]
    if isinstance(vendor, Slack):
        return {"channel": made["channel"], "text": made["text"]}
    if isinstance(vendor, Gmail):
        return {
            "thread_id": made["thread"],
            "to": made["To"].split(", "),
            "cc": made["Cc"].split(", "),
            "subject": made["Subject"],
            "in_reply_to": made["In-Reply-To"],
            "references": made["References"].split(" "),
            "body": made["body"].decode().replace("\r\n", "\n"),
        }
    if isinstance(vendor, Notion):
        return {
            "parent_id": made["parent"]["page_id"],
            "parent_type": "page",
            "title": made["properties"]["title"]["title"][0]["text"]["content"],
            "children": made["children"][:-1],
        }
    if name == "github.create_issue":
        return {
            "repo": asked.path.removeprefix("/repos/").removesuffix("/issues"),
            "title": made["title"],
            "body": made["body"].rpartition("\n\n<!-- memory-hub: ")[0],
            "labels": made["labels"],
        }
    return {
        "title": made["summary"],
        "start": made["start"].get("dateTime") or made["start"]["date"],
        "end": made["end"].get("dateTime") or made["end"]["date"],
        "calendar_id": unquote(asked.path.split("/")[4]),
        "description": made.get("description", ""),
        "location": made["location"],
        "attendees": [guest["email"] for guest in made.get("attendees", [])],
        "notify": made["sendUpdates"] == "all",
    }


LOCAL = {"slack.send": {"mentions"}, "calendar.create": {"time_zone"}}
"""Members that only tell people how to read the others."""


def values(payload: dict[str, Any]) -> dict[str, str]:
    return {row.name: row.text for row in preview(payload, ZONE).rows if row.text not in ("", "[]")}


def sent(vendor: Vendor, name: str, payload: dict[str, Any]) -> Asked:
    call = CONNECTORS[name].call(payload, typed_id("act", new_id()))
    headers = {"authorization": f"Bearer {TOKEN}", "user-agent": "x", "notion-version": "x"}
    query = parse_qs(urlencode(dict(call.query)))
    asked = Asked(call.method, call.path, query, headers, json.dumps(call.body).encode())
    status, body = vendor.answer(asked)
    assert status in (200, 201), body
    assert body.get("ok", True), body
    return asked


def shown_is_sent(cases: int) -> dict[str, int]:
    draw, equal = random.Random(cases), dict.fromkeys(MAKERS, 0)
    for n in range(cases):
        name = list(MAKERS)[n % len(MAKERS)]
        vendor = FAKES[CONNECTORS[name].service]()
        try:
            payload = CONNECTORS[name].normalise(MAKERS[name](draw), ZONE)
        except ValidationFailed:
            continue
        stored = json.loads(canonical_json(payload))
        arrived = received(name, vendor, sent(vendor, name, stored))
        shown = values({key: value for key, value in stored.items() if key not in LOCAL.get(name, set())})
        if name == "gmail.reply":  # a letter's last line ends
            shown["body"] = f"{shown['body'].removesuffix(chr(10))}\n"
        assert values(arrived) == shown
        equal[name] += 1
    return equal


def test_what_was_shown_is_what_arrives() -> None:
    equal = shown_is_sent(1_000)
    assert min(equal.values()) > 100
    print(f"{sum(equal.values())} payloads: what was shown is what arrived {equal}")


@pytest.mark.slow
def test_what_was_shown_is_what_arrives_10_000_times() -> None:
    equal = shown_is_sent(12_500)
    assert sum(equal.values()) >= 10_000
    print(f"{sum(equal.values())} payloads: what was shown is what arrived {equal}")
