"""What would happen, made by us from the payload: every value as text, and the facts that matter about it.

Nothing is left out or cut, and nothing here comes from the agent's own words.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from zoneinfo import ZoneInfo

from actions.domain.links import Link, find_links
from memoryhub.common.canonical import canonical_json
from memoryhub.common.errors import ValidationFailed
from memoryhub.common.odd import Piece, hiding_kinds, mixed_words, pieces, visible
from memoryhub.common.times import parse_time

PLAIN_KEY = re.compile(r"[A-Za-z_$][A-Za-z0-9_$-]*")
CLOCK = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}[Tt ][0-9]{2}:[0-9]{2}\S*")
TEMPLATE = re.compile(r"\{\{.*?\}\}|\$\{.*?\}|\{%.*?%\}", re.DOTALL)


@dataclass(frozen=True)
class Row:
    """One value of the payload: where it stands, and what it is, as text.

    `kind` is text, number, boolean, null, or an empty list or object. `local` is a time of day told in the
    space's zone with its offset.
    """

    path: tuple[Piece, ...]
    kind: str
    value: tuple[Piece, ...]
    links: tuple[Link, ...] = ()
    local: str = ""
    warnings: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        return "".join(p.text for p in self.path)

    @property
    def text(self) -> str:
        return "".join(p.text for p in self.value)


@dataclass(frozen=True)
class Preview:
    """`size` in bytes of canonical JSON. `hosts` are all that its links lead to."""

    rows: tuple[Row, ...]
    size: int

    @property
    def hosts(self) -> list[str]:
        return list(dict.fromkeys(link.host for row in self.rows for link in row.links if link.host))

    @property
    def warnings(self) -> list[tuple[str, str]]:
        """(where, what) for the whole payload."""
        return [(visible(row.name), warning) for row in self.rows for warning in row.warnings]


def preview(payload: dict[str, Any], zone: ZoneInfo) -> Preview:
    return Preview(rows=tuple(rows_of(payload, zone)), size=len(canonical_json(payload)))


def rows_of(value: Any, zone: ZoneInfo, path: str = "") -> Iterator[Row]:
    """One for every value that holds no others, in the order of the keys."""
    if isinstance(value, dict) and value:
        for key in sorted(value):
            yield from rows_of(value[key], zone, _below(path, key))
    elif isinstance(value, list) and value:
        for index, item in enumerate(value):
            yield from rows_of(item, zone, f"{path}[{index}]")
    else:
        yield _row(path, value, zone)


def _row(path: str, value: Any, zone: ZoneInfo) -> Row:
    if not isinstance(value, str):
        return Row(pieces(path), _kind(value), pieces(canonical_json(value).decode()), warnings=_odd(path))
    links = find_links(value)
    local, doubt = _local(value, zone)
    about = [*_odd(path), *_odd(value), *doubt, *_templates(value)]
    about += [f"{link.url}: {warning}" for link in links for warning in link.warnings]
    return Row(pieces(path), "text", pieces(value), links, local, tuple(map(visible, about)))


def _below(path: str, key: str) -> str:
    if PLAIN_KEY.fullmatch(key):
        return f"{path}.{key}" if path else key
    return f"{path}[{canonical_json(key).decode()}]"


def _kind(value: Any) -> str:
    match value:
        case None:
            return "null"
        case bool():
            return "boolean"
        case int() | float():
            return "number"
        case list():
            return "empty list"
        case _:
            return "empty object"


def _odd(text: str) -> tuple[str, ...]:
    hidden = [f"Has a hidden character: {kind}." for kind in hiding_kinds(text)]
    mixed = [f"Mixes letters of different scripts: {word}" for word in mixed_words(text)]
    return (*hidden, *mixed)


def _templates(text: str) -> list[str]:
    found = TEMPLATE.search(text)
    return ["Has a placeholder. Memory Hub fills in nothing; who carries it out might."] if found else []


def _local(text: str, zone: ZoneInfo) -> tuple[str, list[str]]:
    """A time told in the zone, and what is doubtful about it; nothing for what is no time."""
    if not CLOCK.fullmatch(text):
        return "", []
    try:
        at = parse_time(text, zone, field="time")
    except ValidationFailed as fault:
        return "", fault.fields["time"]
    return tell_time(at, zone), []


def tell_time(at: datetime, zone: ZoneInfo) -> str:
    """Like 2026-05-27 18:00:00 +03:00 (Asia/Jerusalem)."""
    local = at.astimezone(zone)
    clock = local.replace(tzinfo=None).isoformat(" ")
    return f"{clock} {local.isoformat(' ').removeprefix(clock)} ({zone.key})"
