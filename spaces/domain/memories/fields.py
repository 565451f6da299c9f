"""What a writer may say of a memory, and the forms and limits of each field."""

import json
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from typing import Any, TypedDict
from uuid import UUID
from zoneinfo import ZoneInfo

from memoryhub.common.errors import PayloadTooLarge, ValidationFailed
from memoryhub.common.text import is_blank, nfc
from memoryhub.common.times import format_time, parse_due, parse_time, zone
from spaces.models import Memory, Space
from spaces.models.memories import KINDS, ORIGINS, TIERS

TEXT = 50_000
LABELS = 20
JSON_BYTES = 16 * 1024
DEFAULT_SCRATCH_DAYS = 7

SEGMENT = r"[A-Za-z0-9._-]{1,64}"
PATH = re.compile(rf"{SEGMENT}(?:/{SEGMENT})*")
RESERVED_ROOTS = ("system/", "finance/ledger/")


class Changes(TypedDict, total=False):
    """Times are texts as their writer sent them. An empty `expires_at` is never, none is by the tier."""

    text: str
    kind: str
    subject: str
    tier: str
    topics: Iterable[str]
    tags: Iterable[str]
    path: str
    source_ref: str
    links: list[dict[str, Any]]
    metadata: dict[str, Any]
    importance: float
    pinned: bool
    origin: str
    decided_by: str
    occurred_at: str
    expires_at: str


class Statement(Changes, total=False):
    """A memory as its writer states it. `agent` and `session` are attribution, and fixed once written."""

    agent: str
    session: str
    session_scoped: bool


@dataclass(frozen=True)
class Place:
    """Where and when something is written. No space means the account as a whole."""

    account_id: UUID
    space: Space | None
    now: datetime

    @property
    def space_id(self) -> UUID | None:
        return self.space.id if self.space else None

    @property
    def zone(self) -> ZoneInfo:
        return zone(self.space.time_zone if self.space else "UTC")

    @property
    def scratch_days(self) -> int:
        return self.space.scratch_days if self.space else DEFAULT_SCRATCH_DAYS


def cleaned(given: Mapping[str, Any], place: Place) -> dict[str, Any]:
    """The model's fields for what was given. Every fault is told at once."""
    fields: dict[str, Any] = {}
    faults: dict[str, list[str]] = {}
    for name, value in given.items():
        try:
            fields[name] = CLEANERS[name](name, value, place)
        except ValidationFailed as fault:
            faults.update(fault.fields)
    if faults:
        raise ValidationFailed(faults)
    return fields


def told(memory: Memory) -> dict[str, Any]:
    """Every field that people or agents gave, as plain JSON."""
    fields = {name: getattr(memory, name) for name in GIVEN}
    return {n: format_time(v) if isinstance(v, datetime) else v for n, v in fields.items()}


def union(*lists: Iterable[Any]) -> list[Any]:
    """What any of them has, once, in order."""
    kept: list[Any] = []
    for item in (i for items in lists for i in items):
        if item not in kept:
            kept.append(item)
    return kept


def _refused(name: str, message: str) -> ValidationFailed:
    return ValidationFailed({name: [message]})


def _text(name: str, value: str, place: Place) -> str:
    if is_blank(value):
        raise _refused(name, "Must say something.")
    return _short(name, value, place, limit=TEXT)


def _short(name: str, value: str, place: Place, *, limit: int) -> str:
    trimmed = value.strip()
    if len(trimmed) > limit:
        raise _refused(name, f"Must have at most {limit} characters. Shorten it.")
    return trimmed


def _identity(name: str, value: str, place: Place, *, limit: int) -> str:
    return _short(name, nfc(value), place, limit=limit)


def _labels(name: str, value: Iterable[str], place: Place, *, limit: int) -> list[str]:
    labels = union(_label(f"{name}[{i}]", label, place, limit=limit) for i, label in enumerate(value))
    if len(labels) > LABELS:
        raise _refused(name, f"Must have at most {LABELS} items. Send fewer.")
    return labels


def _label(name: str, value: str, place: Place, *, limit: int) -> str:
    if is_blank(value):
        raise _refused(name, "Must not be blank. Leave it out.")
    return _identity(name, value, place, limit=limit)


def _one_of(name: str, value: str, place: Place, *, names: tuple[str, ...]) -> str:
    if value not in names:
        raise _refused(name, f"Must be one of {', '.join(names)}.")
    return value


def _path(name: str, value: str, place: Place) -> str:
    path = _short(name, value, place, limit=255)
    if path and (not PATH.fullmatch(path) or {".", ".."} & set(path.split("/"))):
        raise _refused(name, "Must be names of letters, digits, `.`, `_` and `-`, joined by `/`.")
    if f"{path.lower()}/".startswith(RESERVED_ROOTS):
        raise _refused(name, "Must not begin with `system/` or `finance/ledger/`: they are reserved.")
    return path


def _json(name: str, value: Any, place: Place) -> Any:
    if len(json.dumps(value, ensure_ascii=False).encode()) > JSON_BYTES:
        raise PayloadTooLarge(f"{name}: Must be at most {JSON_BYTES} bytes of JSON.", limit=JSON_BYTES)
    return value


def _links(name: str, value: list[dict[str, Any]], place: Place) -> list[dict[str, Any]]:
    if len(value) > LABELS:
        raise _refused(name, f"Must have at most {LABELS} items. Send fewer.")
    return union(_json(name, value, place))


def _importance(name: str, value: float, place: Place) -> float:
    if not 0 <= value <= 1:
        raise _refused(name, "Must be between 0 and 1.")
    return float(value)


def _bool(name: str, value: bool, place: Place) -> bool:
    return value


def _moment(name: str, value: str, place: Place) -> datetime:
    return parse_time(value, place.zone, field=name) if value.strip() else place.now


def _expiry(name: str, value: str, place: Place) -> datetime | None:
    """A date alone lasts through that day."""
    if not value.strip():
        return None
    moment = parse_due(value, place.zone, name).at
    if moment <= place.now:
        raise _refused(name, "Must be in the future.")
    return moment


CLEANERS: dict[str, Callable[[str, Any, Place], Any]] = {
    "text": _text,
    "kind": partial(_one_of, names=KINDS),
    "subject": partial(_identity, limit=120),
    "tier": partial(_one_of, names=TIERS),
    "topics": partial(_labels, limit=500),
    "tags": partial(_labels, limit=50),
    "path": _path,
    "source_ref": partial(_short, limit=500),
    "links": _links,
    "metadata": _json,
    "importance": _importance,
    "pinned": _bool,
    "origin": partial(_one_of, names=ORIGINS),
    "decided_by": partial(_short, limit=120),
    "occurred_at": _moment,
    "expires_at": _expiry,
    "agent": partial(_short, limit=200),
    "session": partial(_short, limit=200),
    "session_scoped": _bool,
}

# What a version keeps: everything that can be changed, and what the credential made of it.
GIVEN = (*Changes.__annotations__, "trust")
