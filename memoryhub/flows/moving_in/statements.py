"""What readers of other systems' files share: a statement of theirs as a row of ours, with nothing lost on the way."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import IO, Any
from uuid import UUID

from memoryhub.common.errors import HubError, PayloadTooLarge
from memoryhub.common.ids import typed_id
from memoryhub.common.text import is_blank, parse_json
from memoryhub.common.times import format_time, parse_due, zone
from memoryhub.flows.opening import MOST_PARTS, too_many_parts
from memoryhub.flows.readings import LeftOut, refused
from spaces.domain.kinds import Row

LARGEST = 64 * 1024 * 1024
LABELS, TAG, SUBJECT, NAME = 20, 50, 120, 200
METADATA = 15 * 1024
FIRST_MOMENT = 1_000_000_000
"""Of ids that have no time of their own. It only orders them."""


@dataclass
class Statements:
    """Rows as they are read, and what had no place. `system` names where they are from."""

    system: str
    path: str
    rows: list[tuple[int, Row]] = field(default_factory=list)
    missing: Counter[tuple[str, str]] = field(default_factory=Counter)
    seen: set[str] = field(default_factory=set)

    def add(
        self,
        line: int,
        id: str,
        text: str,
        *,
        subject: str = "",
        tags: Iterable[Any] = (),
        topics: Iterable[Any] = (),
        metadata: dict[str, Any] | None = None,
        created_at: Any = None,
        updated_at: Any = None,
        **fields: Any,
    ) -> None:
        """What is too long for its field goes into the metadata, and what fits nowhere is counted."""
        if is_blank(text):
            self.leave("statements without text", "There is nothing to remember.")
            return
        more = dict(metadata or {})
        made, changed = (
            self.moment(created_at, more, "created_at"),
            self.moment(updated_at, more, "updated_at"),
        )
        row: Row = {
            "id": made_id(f"{self.system}:{id}", made),
            "text": text,
            "subject": self._short("subject", subject, SUBJECT, more),
            "tags": self._labels("tags", tags, TAG, more),
            "topics": self._labels("topics", topics, 500, more),
            **{
                name: self._short(name, value, NAME, more)
                for name, value in fields.items()
                if name in ATTRIBUTION
            },
            **{name: value for name, value in fields.items() if name not in ATTRIBUTION},
            **({"created_at": made, "updated_at": changed or made} if made else {}),
        }
        row["metadata"] = self._metadata(more)
        if row["id"] in self.seen:
            self.leave("statements that the file repeats", "Each is kept once.")
            return
        self.seen.add(row["id"])
        self.rows.append((line, row))

    def leave(self, what: str, why: str, count: int = 1) -> None:
        self.missing[(what, why)] += count

    @property
    def left_out(self) -> list[LeftOut]:
        return [LeftOut(what, count, why) for (what, why), count in self.missing.items()]

    def moment(self, value: Any, more: dict[str, Any], name: str) -> str:
        """A time in any of the forms in use; another is kept as it is written, in the metadata."""
        if value in (None, ""):
            return ""
        try:
            return _moment(value)
        except (HubError, ValueError, OverflowError, OSError):
            more[name] = value
            return ""

    def _short(self, name: str, value: Any, limit: int, more: dict[str, Any]) -> str:
        text = value if isinstance(value, str) else "" if value is None else str(value)
        if len(text) <= limit:
            return text
        more[name] = text
        return ""

    def _labels(self, name: str, values: Iterable[Any], limit: int, more: dict[str, Any]) -> list[str]:
        texts = list(dict.fromkeys(str(v).strip() for v in values if not is_blank(str(v))))
        fit = [text for text in texts if len(text) <= limit][:LABELS]
        if rest := [text for text in texts if text not in fit]:
            more[name] = rest
        return fit

    def _metadata(self, more: dict[str, Any]) -> dict[str, Any]:
        """The entries that fit; whole ones only."""
        kept: dict[str, Any] = {}
        for name, value in more.items():
            if len(json.dumps({**kept, name: value}, ensure_ascii=False).encode()) > METADATA:
                self.leave(f"entries of metadata ({name[:40]})", "There is room for 15 KiB with a memory.")
            else:
                kept[name] = value
        return kept


ATTRIBUTION = ("agent", "session")


def made_id(name: str, at: str) -> str:
    """The same for the same thing of theirs each time, in the order of their times."""
    moment = datetime.fromisoformat(at).timestamp() if at else FIRST_MOMENT
    mark = hashlib.sha256(name.encode(errors="replace")).digest()
    raw = bytearray(max(int(moment * 1000), 0).to_bytes(6, "big") + mark[:10])
    raw[6], raw[8] = raw[6] & 0x0F | 0x70, raw[8] & 0x3F | 0x80
    return typed_id("mem", UUID(bytes=bytes(raw)))


def _moment(value: Any) -> str:
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        raise ValueError("no time")
    if isinstance(value, int | float):
        seconds = value / 1000 if value > 1e11 else value
        return format_time(datetime.fromtimestamp(seconds, UTC))
    return format_time(parse_due(value, zone("UTC"), "time").at)


def whole_text(file: IO[bytes], path: str) -> str:
    content = file.read(LARGEST + 1)
    if len(content) > LARGEST:
        raise PayloadTooLarge(f"{path}: Is larger than 64 MiB. Cut it into several files.", limit=LARGEST)
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as fault:
        line = content[: fault.start].count(b"\n") + 1
        raise refused(path, line, "Is not valid UTF-8.") from None


def as_json(text: str, path: str) -> Any:
    content = text.encode()
    if too_many_parts(content):
        raise refused(path, None, f"Has more than {MOST_PARTS} lists and objects.")
    try:
        return parse_json(content)
    except HubError as fault:
        raise refused(path, None, fault.message.replace("The body", "The file", 1)) from None


def objects(value: Any, statements: Statements) -> Iterable[tuple[int, Row]]:
    """The objects of a list with their numbers; whatever else is in it is counted."""
    for number, item in enumerate(value if isinstance(value, list) else [], 1):
        if isinstance(item, dict):
            yield number, item
        else:
            statements.leave("entries that are no objects", "They have no fields to read.")


def text_of(row: Row, *names: str) -> str:
    return next((row[name] for name in names if isinstance(row.get(name), str) and row[name]), "")


def mapping_of(row: Row, name: str) -> dict[str, Any]:
    value = row.get(name)
    return dict(value) if isinstance(value, dict) else {} if value is None else {name: value}


def list_of(row: Row, *names: str) -> list[Any]:
    return next((row[name] for name in names if isinstance(row.get(name), list)), [])


def others(row: Row, *known: str) -> dict[str, Any]:
    """Fields that no reader knows. They are kept."""
    return {
        name: value for name, value in row.items() if name not in known and value not in (None, "", [], {})
    }
