"""What an action would do, in one line: made by us from its class and payload, never from the agent's words."""

from collections.abc import Iterator
from typing import Any

from django.utils.translation import gettext as _

SHOWN = 3
SHORT = 60

# What tells most about an action, where a payload has it, is said first.
TELLING = (
    "to", "recipient", "recipients", "channel", "repo", "repository", "service", "title", "subject", "name", "version",
    "amount", "currency", "order", "environment", "start", "text", "message", "body",
)  # fmt: skip


def headline(class_name: str, payload: dict[str, Any]) -> str:
    """`deploy.run: service “api”, version “1.4.2” and 3 more`. Whole, the payload stands on the action's page."""
    parts = list(_members(payload))
    shown, left = parts[:SHOWN], len(payload) - min(len(parts), SHOWN)
    if not shown:
        return class_name
    more = _(" and %(n)s more") % {"n": left} if left else ""
    return f"{class_name}: {', '.join(shown)}{more}"


def _members(payload: dict[str, Any]) -> Iterator[str]:
    for name in sorted(payload, key=_place):
        value = payload[name]
        if (text := _short(value)) is not None:
            yield f"{name} {text}"


def _place(name: str) -> tuple[int, str]:
    return (TELLING.index(name) if name in TELLING else len(TELLING), name)


def _short(value: object) -> str | None:
    if isinstance(value, bool) or value is None:
        return str(value).lower() if isinstance(value, bool) else None
    if isinstance(value, int | float):
        return str(value)
    if isinstance(value, str):
        line = " ".join(value.split())
        return f"“{line if len(line) <= SHORT else line[: SHORT - 1] + '…'}”"
    if isinstance(value, list) and value and all(isinstance(item, str) for item in value):
        return _short(", ".join(value))
    return None
