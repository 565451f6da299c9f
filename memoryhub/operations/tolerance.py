"""Clients are sloppy, meaning is not: the few spellings that are read as what they plainly mean."""

import json
import re
from collections.abc import Mapping
from typing import Any

WHOLE = re.compile(r"-?[0-9]{1,18}")
BOOLEANS = {"true": True, "false": False}
UNREADABLE = object()


def renamed(raw: Mapping[str, Any], aliases: Mapping[str, str]) -> Mapping[str, Any]:
    """With our names for what was sent under others; but what was sent under ours too stays as it is."""
    found = dict(raw)
    for alias in aliases.keys() & raw.keys():
        name, _, member = aliases[alias].partition(".")
        holder = found.get(name)
        if not name:
            del found[alias]
        elif member:
            holder = {} if holder is None else parse(holder) if isinstance(holder, str) else holder
            if isinstance(holder, dict) and member not in holder:
                found[name] = holder | ({} if raw[alias] is None else {member: raw[alias]})
                del found[alias]
        elif holder is None:
            found[name] = found.pop(alias)
    return found


def tolerate(raw: Mapping[str, Any], arguments: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    """The arguments with top-level nulls dropped and text read as the type that the schema wants.

    An argument whose schema names no type stays as it was sent, null included. What can't be read is left
    for validation to refuse.
    """
    return {
        name: read_as(value, arguments[name].get("type"))
        for name, value in raw.items()
        if value is not None or "type" not in arguments[name]
    }


def read_as(value: Any, kind: str | None) -> Any:
    if isinstance(value, str) and kind not in (None, "string"):
        return from_text(value, kind)
    if kind == "integer" and isinstance(value, float) and value.is_integer():
        return int(value)
    return value


def from_text(text: str, kind: str | None) -> Any:
    if kind == "boolean":
        return BOOLEANS.get(text, text)
    if kind in ("integer", "number"):
        return int(text) if WHOLE.fullmatch(text) else text
    wanted = {"object": dict, "array": list}.get(kind or "")
    parsed = parse(text) if wanted else text
    return parsed if wanted and isinstance(parsed, wanted) else text


def parse(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return UNREADABLE
