"""A person in Slack, found by their e-mail address, and a message to them alone."""

import re
from typing import Any

from actions.connectors.answers import Refused, Unclear
from actions.connectors.base import Ask, Call

SERVICE = "slack"
SCOPES = ("users:read", "users:read.email", "im:write")
"""Beside `chat:write`. Slack wants the first to be asked for together with the second."""
USER = re.compile(r"[UW][A-Z0-9]{2,20}")
CONVERSATION = re.compile(r"D[A-Z0-9]{2,20}")
NOBODY, NOT_THEM = "users_not_found", "not their conversation"


def conversation_with(ask: Ask, address: str) -> str:
    """Theirs with the hub, opened if there is none; nothing is said by that. Refused where Slack's answer leads to
    anybody else."""
    try:
        person = ask(Call("GET", "/api/users.lookupByEmail", query={"email": address}))["user"]
        user = _them(person, address)
        opened = ask(Call("POST", "/api/conversations.open", {"users": user}))["channel"]["id"]
    except (LookupError, TypeError, AttributeError):
        raise Unclear("answer not understood") from None
    if not CONVERSATION.fullmatch(opened):
        raise Refused(NOT_THEM)
    return str(opened)


def _them(person: dict[str, Any], address: str) -> str:
    """Slack tells the address with the scope for it."""
    known = person.get("profile", {}).get("email", address)
    if person.get("deleted") or person.get("is_bot") or known.lower() != address.lower():
        raise Refused(NOBODY)
    if not USER.fullmatch(person["id"]):
        raise Refused(NOT_THEM)
    return str(person["id"])
