"""The registry of kinds: every kind of stored thing says here, where it is defined, how it leaves and ends.

Exporting, importing and forgetting walk this registry, so that a kind added later can't be missed.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar
from uuid import UUID

from django.db.models import QuerySet

from accounts.actor import Actor
from accounts.models import Tenant
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
    can cut the query's words out of them instead.
    """

    space: Space
    ids: tuple[UUID, ...] = ()
    query: str = ""
    redact: bool = True


@dataclass(frozen=True)
class Hit:
    """A row that a selection reaches. `sample` is the first characters of its text (see `excerpt`).

    `earlier`: only earlier versions of the row hold the query. They go, and the row stays.
    """

    id: UUID
    sample: str
    earlier: bool = False


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
    """

    scope: str
    find: Callable[[Actor, Selection], list[Hit]]
    erase: Callable[[Actor, Selection, Sequence[Hit]], Forgotten]


@dataclass(frozen=True)
class Trace:
    """Of what no copy is to stay: of memories that are erased, and of what holds the query in a space.

    `words` tells that memories with all words of the query go; else it is what holds it as a phrase.
    """

    ids: frozenset[UUID] = frozenset()
    selection: Selection | None = None
    words: bool = True


@dataclass(frozen=True)
class Kind:
    """A kind of stored thing.

    `prefix` is that of its typed ids. `export` yields every row of the space (None: of the account as a whole)
    as plain JSON, with whatever hangs on it. Without `forgetting` it is out of reach of queries to forget.
    `plural` names its file in an export.
    `scrub(actor, trace)` takes out of rows that stay what they keep of a text that is gone for good.
    """

    prefix: str
    model_label: str
    export: Callable[[Actor, Space | None], Iterator[Row]]
    forgetting: Forgetting | None = None
    plural: str = ""
    scrub: Callable[[Actor, Trace], None] | None = None

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


def in_batches(rows: QuerySet[T], size: int = 500) -> Iterator[T]:
    """Every row by id, a batch at a time, so that memory holds a batch and not a space."""
    batch = list(rows.order_by("id")[:size])
    while batch:
        yield from batch
        batch = list(rows.filter(id__gt=batch[-1].id).order_by("id")[:size])


def all_kinds() -> list[Kind]:
    return list(_kinds.values())


def scrub_copies(actor: Actor, trace: Trace) -> None:
    for kind in all_kinds():
        if kind.scrub:
            kind.scrub(actor, trace)


def forgettable_kinds() -> dict[str, Kind]:
    """Scope → kind, for those that a query can reach."""
    return {kind.forgetting.scope: kind for kind in all_kinds() if kind.forgetting}
