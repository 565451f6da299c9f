"""The registry of kinds: every kind of stored thing says here, where it is defined, how it leaves and ends.

Exporting, importing and forgetting walk this registry, so that a kind added later can't be missed.
"""

import hashlib
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Any, TypeVar
from uuid import UUID

from django.db.models import QuerySet

from accounts.actor import Actor
from accounts.models import Tenant
from accounts.scopes import Scope
from memoryhub.common.errors import HubError
from memoryhub.common.ids import ID_PREFIXES, typed_id
from spaces.models import Space

SAMPLE = 80
PLURALS = {"sum": "summaries", "txn": "ledger", "run": "dreams"}
"""Of kinds whose name makes no plural by itself."""

Row = dict[str, Any]
T = TypeVar("T", bound=Tenant)


@dataclass(frozen=True)
class Selection:
    """What to forget of one kind: the rows with these ids, and those in `space` that hold the query.

    `space` is readable, and nothing more is known of it. `redact` spares rows found by the query where a kind
    can cut the query's words out of them instead. `memories` are those that go in the same call.
    """

    space: Space
    ids: tuple[UUID, ...] = ()
    query: str = ""
    redact: bool = True
    memories: tuple[UUID, ...] = ()


@dataclass(frozen=True)
class Hit:
    """A row that a selection reaches. `sample` is the first characters of its text (see `excerpt`).

    `earlier`: only earlier versions of the row hold the query. They go, and the row stays.
    `prefix` is that of its typed id, where the kind has several.
    """

    id: UUID
    sample: str
    earlier: bool = False
    prefix: str = ""


@dataclass(frozen=True)
class Forgotten:
    """What became of the hits. `versions` counts earlier versions that went while their row stayed."""

    deleted: int = 0
    redacted: int = 0
    versions: int = 0


@dataclass(frozen=True)
class Forgetting:
    """How rows of a kind are forgotten. `scope` is the kind's name in the tool's `scopes`.

    `find(actor, selection)` lists what is reached, expired rows and earlier versions included. It changes
    nothing, and raises NotFound for an id that the actor may not read and Forbidden for a row that it may
    only read: the whole call is then refused. `erase(actor, selection, hits)` does it in the caller's
    transaction: rows, earlier versions and everything derived go, and events of type `<noun>.forgotten` are
    recorded, which hold ids only.

    With `along`, nobody names the kind: it is reached with that scope, before that is erased, since it tells of the
    same things. `reads` are the scopes without which its samples are not shown.
    """

    scope: str
    find: Callable[[Actor, Selection], list[Hit]]
    erase: Callable[[Actor, Selection, Sequence[Hit]], Forgotten]
    along: str = ""
    reads: frozenset[Scope] = frozenset()


class Outcome(StrEnum):
    """What an imported row is beside what is there: `CHANGED` is a later state of the same row, and taken over;
    `CONFLICTING` was written apart from it, and what is there stays."""

    NEW = "new"
    SAME = "same"
    CHANGED = "changed"
    CONFLICTING = "conflicting"


@dataclass
class Arrival:
    """Where rows of a file arrive. `space` None is the account as a whole.

    `later` holds what can only be done once every row is there; it runs in the same transaction. Until then
    `gathered` holds what a kind needs for it.
    """

    actor: Actor
    space: Space | None
    now: datetime
    later: list[Callable[[], None]] = field(default_factory=list)
    gathered: dict[str, dict[UUID, Any]] = field(default_factory=dict)
    notes: Counter[str] = field(default_factory=Counter)

    @property
    def account_id(self) -> UUID:
        return self.actor.account_id

    def id(self, id: UUID) -> UUID:
        """The id that a row of a file gets here: always the same one, and in the same order of time."""
        place = (self.space.id if self.space else self.account_id).bytes
        mark = hashlib.sha256(place + id.bytes).digest()
        raw = bytearray(id.bytes[:10] + mark[:6])
        raw[6], raw[8] = raw[6] & 0x0F | 0x70, raw[8] & 0x3F | 0x80
        return UUID(bytes=bytes(raw))


Arriving = Callable[[Arrival, Sequence[Row]], list[Outcome]]
"""Takes rows as `export` gives them, sorts them out against what is there, and stores new and changed ones: an
outcome for each, in order. The first that can't be is raised as RowRefused. See spaces.domain.arriving."""


class RowRefused(Exception):
    """The row at `index` of those that were handed over can't be taken."""

    def __init__(self, index: int, error: HubError) -> None:
        self.index, self.error = index, error


@dataclass(frozen=True)
class Trace:
    """Of what no copy is to stay: of memories that are erased, and of what holds the query in a space.

    `words` tells that memories with all words of the query go; else it is what holds it as a phrase.
    """

    ids: frozenset[UUID] = frozenset()
    selection: Selection | None = None
    words: bool = True


@dataclass(frozen=True)
class Kept:
    """A table in which rows of a kind keep what somebody gave: in `fields`, and in `names` by which a row is found
    again or which nobody may change. `save(row, fields)` also brings what follows from them up to date. Rows that are
    `frozen` are written once: they make way for others with the same id.
    """

    label: str
    fields: tuple[str, ...] = ()
    names: tuple[str, ...] = ()
    save: Callable[[Any, list[str]], None] = lambda row, fields: row.save(update_fields=fields)
    frozen: bool = False


@dataclass(frozen=True)
class Kind:
    """A kind of stored thing.

    `prefix` is that of its typed ids. `export` yields every row of the space (None: of the account as a whole)
    as plain JSON, with whatever hangs on it. Without `forgetting` it is out of reach of queries to forget.
    `scrub(actor, trace)` takes out of rows that stay what they keep of a text that is gone for good.
    `plural` names its file in an export. Without `arrive` its rows are left out of an import, and named there.
    `whole(actor, ids)` erases rows of which nothing else has to follow; others go by `forgetting`. `beside` is the
    prefix of the kind in whose file its rows leave. `kept` is where secrets are looked for anew.
    """

    prefix: str
    model_label: str
    export: Callable[[Actor, Space | None], Iterator[Row]]
    forgetting: Forgetting | None = None
    plural: str = ""
    scrub: Callable[[Actor, Trace], None] | None = None
    arrive: Arriving | None = None
    whole: Callable[[Actor, Sequence[UUID]], int] | None = None
    beside: str = ""
    kept: tuple[Kept, ...] = ()

    @property
    def name(self) -> str:
        return ID_PREFIXES[self.prefix]

    @property
    def file(self) -> str:
        scope = self.forgetting.scope if self.forgetting else f"{self.name}s"
        return f"{self.plural or PLURALS.get(self.prefix, scope)}.jsonl"

    def typed(self, id: UUID) -> str:
        return typed_id(self.prefix, id)


_kinds: dict[str, Kind] = {}


def register_kind(kind: Kind) -> Kind:
    if kind.prefix in _kinds:
        raise ValueError(f"the kind {kind.name} is registered already")
    _kinds[kind.prefix] = kind
    return kind


def nothing(actor: Actor, space: Space | None) -> Iterator[Row]:
    """What a kind exports by itself whose rows leave with another's."""
    yield from ()


def in_batches(rows: QuerySet[T], size: int = 500) -> Iterator[T]:
    """Every row by id, a batch at a time, so that memory holds a batch and not a space."""
    batch = list(rows.order_by("id")[:size])
    while batch:
        yield from batch
        batch = list(rows.filter(id__gt=batch[-1].id).order_by("id")[:size])


def all_kinds() -> list[Kind]:
    return list(_kinds.values())


def kinds_with_files() -> list[Kind]:
    return [kind for kind in all_kinds() if not kind.beside]


def scrub_copies(actor: Actor, trace: Trace) -> None:
    for kind in all_kinds():
        if kind.scrub:
            kind.scrub(actor, trace)


def forgettable_kinds() -> dict[str, Kind]:
    """Scope → kind, for those that a caller can name."""
    ways = [(kind.forgetting, kind) for kind in all_kinds() if kind.forgetting]
    return {way.scope: kind for way, kind in ways if not way.along}


def kinds_along(scope: str) -> dict[str, Kind]:
    """Scope → kind, for those that are reached together with this one."""
    ways = [(kind.forgetting, kind) for kind in all_kinds() if kind.forgetting]
    return {way.scope: kind for way, kind in ways if way.along == scope}
