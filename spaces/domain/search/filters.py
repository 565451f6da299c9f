"""Which memories a search is about. Each way of ranking applies it to its own candidates, before it cuts."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db.models import Q

from accounts.actor import Actor
from memoryhub.common.text import nfc
from spaces.domain.search.metadata import holding
from spaces.models import Memory
from spaces.models.memories import MemoryQuerySet


@dataclass(frozen=True)
class SearchFilters:
    """Empty means any. What is expired or quarantined is never found.

    `spaces` None: every space the actor reads. Each of `paths` is that path and all below it, and all must
    hold; `tags` and `topics` must all be there; `metadata` is as `holding` reads it;
    `said_from` is inclusive, `said_before` is not (both by `occurred_at`).
    """

    spaces: frozenset[UUID] | None = None
    account_wide: bool = True
    kinds: tuple[str, ...] = ()
    tiers: tuple[str, ...] = ()
    statuses: tuple[str, ...] = ("active",)
    origins: tuple[str, ...] = ()
    trusts: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    topics: tuple[str, ...] = ()
    subject: str = ""
    paths: tuple[str, ...] = ()
    source_ref: str = ""
    agent: str = ""
    session: str = ""
    metadata: Mapping[str, Any] = field(default_factory=dict)
    said_from: datetime | None = None
    said_before: datetime | None = None


ANY = SearchFilters()
TRACE = "trace"
NO_TRACE = ~Q(kind="note", tags__contains=[TRACE])
"""Notes of what an agent's tools were called for are found by who asks for notes, or for them."""


def matching(actor: Actor, filters: SearchFilters, *, now: datetime | None = None) -> MemoryQuerySet:
    """The memories that the actor reads and the filters let through, in no order."""
    memories: MemoryQuerySet = Memory.objects.visible_to(actor).live(now)
    return memories.filter(
        *_where(filters), *_what(filters), *_whose(filters), *_when(filters), *holding(filters.metadata)
    )


def _where(filters: SearchFilters) -> Iterator[Q]:
    if filters.spaces is not None:
        yield Q(space_id__in=filters.spaces) | Q(space_id=None)
    if not filters.account_wide:
        yield Q(space_id__isnull=False)


def _what(filters: SearchFilters) -> Iterator[Q]:
    choices = {
        "kind": filters.kinds,
        "tier": filters.tiers,
        "status": filters.statuses,
        "origin": filters.origins,
        "trust": filters.trusts,
    }
    yield from (Q((f"{field}__in", values)) for field, values in choices.items() if values)
    if "note" not in filters.kinds and TRACE not in (*filters.tags, *_listed(filters.metadata.get("tags"))):
        yield NO_TRACE
    labels = {"tags": filters.tags, "topics": filters.topics}
    yield from (
        Q((f"{field}__contains", list(map(nfc, values)))) for field, values in labels.items() if values
    )


def _listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


def _whose(filters: SearchFilters) -> Iterator[Q]:
    exact = {
        "subject": nfc(filters.subject),
        "source_ref": filters.source_ref,
        "agent": filters.agent,
        "session": filters.session,
    }
    yield from (Q((field, value)) for field, value in exact.items() if value)
    for path in filters.paths:
        yield Q(path__iexact=path) | Q(path__istartswith=f"{path}/")


def _when(filters: SearchFilters) -> Iterator[Q]:
    if filters.said_from:
        yield Q(occurred_at__gte=filters.said_from)
    if filters.said_before:
        yield Q(occurred_at__lt=filters.said_before)
