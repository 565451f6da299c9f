"""gmail.reply: `users.messages.send` into a thread, to the recipients and under the subject that were shown."""

import base64
import re
from email.headerregistry import Address
from email.message import EmailMessage
from email.policy import SMTP
from email.utils import getaddresses
from typing import Any
from zoneinfo import ZoneInfo

from pydantic import Field

from actions.connectors.addresses import addresses
from actions.connectors.base import (
    Ask,
    Call,
    Connector,
    Given,
    Payload,
    Unresolvable,
    many_lines,
    one_line,
    read,
    refused,
    without_empty,
)
from memoryhub.common.text import is_blank

BODY, SUBJECT, RECIPIENTS = 25_000, 900, 100
MESSAGE_ID = re.compile(r"<[\x21-\x3b\x3d\x3f-\x7e]{3,400}>")
REFERENCES = 100
THREADS = "/gmail/v1/users/me/threads"
MARKER_HEADER = "X-Memory-Hub-Action"
FROM_THREAD = ("to", "subject", "in_reply_to", "references")


class GmailReply(Payload):
    """What is left out is taken from the thread, before a person decides: sender, subject, references."""

    thread_id: str = Field(pattern=r"^[0-9a-fA-F]{1,32}$")
    body: str
    to: list[str] = Field(default_factory=list, max_length=RECIPIENTS)
    cc: list[str] = Field(default_factory=list, max_length=RECIPIENTS)
    subject: str = ""
    in_reply_to: str = ""
    references: list[str] = Field(default_factory=list, max_length=100)


def normalise(payload: Given, zone: ZoneInfo) -> dict[str, Any]:
    given = read(GmailReply, payload)
    if is_blank(given.body):
        raise refused("body", "Must not be blank.")
    members = {
        "thread_id": given.thread_id.lower(),
        "to": addresses("to", given.to),
        "cc": addresses("cc", given.cc),
        "subject": one_line("subject", given.subject, SUBJECT) if given.subject else "",
        "in_reply_to": _message_id("in_reply_to", given.in_reply_to) if given.in_reply_to else "",
        "references": [_message_id(f"references[{i}]", id) for i, id in enumerate(given.references)],
        "body": many_lines("body", given.body, BODY),
    }
    return without_empty(members)


def unresolved(payload: Given) -> list[str]:
    return [name for name in FROM_THREAD if name not in payload]


def resolve(ask: Ask, payload: Given) -> dict[str, Any]:
    """Answers who wrote the thread's last message, unless told whom."""
    query = {
        "format": "metadata",
        "metadataHeaders": ["From", "Reply-To", "Subject", "Message-ID", "References"],
    }
    messages = ask(Call("GET", f"{THREADS}/{payload['thread_id']}", query=query)).get("messages", [])
    if not messages:
        raise Unresolvable("Gmail shows this connection no message in that thread.")
    last = _headers(messages[-1])
    writers = [address for _, address in getaddresses([last.get("reply-to") or last.get("from", "")])]
    own_id = last.get("message-id", "")
    found = {
        "to": payload.get("to") or writers,
        "subject": payload.get("subject") or _reply_subject(last.get("subject", "")),
        "in_reply_to": own_id,
        "references": [*last.get("references", "").split(), own_id][-REFERENCES:],
    }
    return normalise({**payload, **found}, ZoneInfo("UTC"))


def find(ask: Ask, payload: Given, marker: str) -> dict[str, Any] | None:
    query = {"format": "metadata", "metadataHeaders": MARKER_HEADER}
    thread = ask(Call("GET", f"{THREADS}/{payload['thread_id']}", query=query))
    mine = (m for m in thread.get("messages", []) if _headers(m).get(MARKER_HEADER.lower()) == marker)
    return next(map(receipt, mine), None)


def receipt(answer: dict[str, Any]) -> dict[str, Any]:
    return {"id": answer["id"], "thread_id": answer["threadId"]}


def call(payload: Given, marker: str) -> Call:
    raw = base64.urlsafe_b64encode(letter(payload, marker).as_bytes()).decode()
    return Call("POST", "/gmail/v1/users/me/messages/send", {"raw": raw, "threadId": payload["thread_id"]})


def letter(payload: Given, marker: str) -> EmailMessage:
    """The same bytes whenever it is made: Gmail itself adds who sends it, the date and its id."""
    message = EmailMessage(policy=SMTP)
    message["To"] = _as_header(payload["to"])
    if "cc" in payload:
        message["Cc"] = _as_header(payload["cc"])
    message["Subject"] = payload["subject"]
    message["In-Reply-To"] = payload["in_reply_to"]
    message["References"] = " ".join(payload["references"])
    message[MARKER_HEADER] = marker
    message.set_content(payload["body"], cte="base64")
    return message


def _headers(message: dict[str, Any]) -> dict[str, str]:
    return {h["name"].lower(): h["value"] for h in message.get("payload", {}).get("headers", [])}


def _reply_subject(subject: str) -> str:
    line = " ".join(subject.split()) or "(no subject)"
    return line if line.lower().startswith("re:") else f"Re: {line}"


def _as_header(addresses: list[str]) -> tuple[Address, ...]:
    return tuple(Address(addr_spec=address) for address in addresses)


def _message_id(name: str, given: str) -> str:
    if not MESSAGE_ID.fullmatch(given.strip()):
        raise refused(name, "Must be a Message-ID like <abc@example.org>.")
    return given.strip()


GMAIL_REPLY = Connector(
    "gmail.reply", "google", "gmail", 1, normalise, call, find, receipt, unresolved, resolve
)
