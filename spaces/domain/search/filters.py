"""Which memories a search is about. Each way of ranking applies it to its own candidates, before it cuts."""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from itertools import chain
from typing import Any
from uuid import UUID

from django.db.models import BooleanField
from django.db.models.expressions import RawSQL
from django.utils import timezone

from accounts.actor import Actor
from memoryhub.common.text import nfc
from spaces.domain.search.metadata import Condition, holding
from spaces.models import Memory
from spaces.models.memories import MemoryQuerySet
from spaces.models.spaces import sees_all


@dataclass(frozen=True)
class SearchFilters:
    """Empty means any. What is expired or quarantined is never found.

    `spaces` None: every space the actor reads. Each of `paths` is that path and all below it, and all must
    hold; `tags` and `topics` must all be there; `metadata` is as `holding` reads it; `not_by` leaves out what
    one credential wrote; `said_from` is inclusive, `said_before` is not (both by `occurred_at`).
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
    not_by: str = ""
    metadata: Mapping[str, Any] = field(default_factory=dict)
    said_from: datetime | None = None
    said_before: datetime | None = None


ANY = SearchFilters()
TRACE = "trace"
UNTRACED = f"not (spaces_memory.kind = 'note' and spaces_memory.tags @> '{{{TRACE}}}')"
NO_TRACE = RawSQL(UNTRACED, [], output_field=BooleanField())  # noqa: S611
"""Notes of what an agent's tools were called for are found by who asks for notes, or for them."""


NAMED = re.compile(r"%\((\w+)\)s")
# What `visible_to` and `live` say, by hand: built by the ORM they cost more than the search that they are part of.
# The spaces are looked up once in a statement, whose every part may then ask for them.
REACHED = """
    reached as materialized (
        select id from spaces_space
         where account_id = %(account)s and (%(anywhere)s or id = any(%(spaces)s::uuid[]))
           and (%(listed)s::uuid[] is null or id = any(%(listed)s::uuid[]))
           and (%(sees_all)s or visibility = 'account' or exists (
                select from spaces_spacemember as member
                 where member.account_id = %(account)s and member.space_id = spaces_space.id
                   and member.user_id = %(person)s))
    )
"""
IN_REACH = "(spaces_memory.space_id is null or spaces_memory.space_id = any(array(select id from reached)))"
LIVE = """
    spaces_memory.status not in ('quarantined', 'dropped')
    and (spaces_memory.expires_at is null or spaces_memory.expires_at > %(now)s or spaces_memory.pinned)
"""


def matching(actor: Actor, filters: SearchFilters, *, now: datetime | None = None) -> MemoryQuerySet:
    """The memories that the actor reads and the filters let through, in no order."""
    memories: MemoryQuerySet = Memory.objects.visible_to(actor).live(now)
    text, values = _joined([*_inside(filters), *_narrowing(filters)])
    places = [values[name] for name in NAMED.findall(text)]
    return memories.filter(RawSQL(NAMED.sub("%s", text), places, output_field=BooleanField()))  # noqa: S611


def passing(actor: Actor, filters: SearchFilters) -> Condition:
    """The same as `matching`, for a statement that begins with REACHED."""
    text, values = _joined(_narrowing(filters))
    told = {
        "account": actor.account_id,
        "person": actor.user_id,
        "sees_all": sees_all(actor),
        "listed": None if actor.space_ids is None else list(actor.space_ids),
        "anywhere": filters.spaces is None,
        "spaces": list(filters.spaces or ()),
        "now": timezone.now(),
    }
    return f"spaces_memory.account_id = %(account)s and {IN_REACH} and {LIVE} and {text}", values | told


def _joined(conditions: Iterable[Condition]) -> Condition:
    found = list(conditions)
    values = {name: value for _, named in found for name, value in named.items()}
    return " and ".join(f"({text})" for text, _ in found) or "true", values


def _inside(filters: SearchFilters) -> Iterator[Condition]:
    if filters.spaces is not None:
        inside = "spaces_memory.space_id is null or spaces_memory.space_id = any(%(inside)s::uuid[])"
        yield inside, {"inside": list(filters.spaces)}


def _narrowing(filters: SearchFilters) -> Iterator[Condition]:
    """Beyond the spaces."""
    if not filters.account_wide:
        yield "spaces_memory.space_id is not null", {}
    yield from chain(_what(filters), _whose(filters), _when(filters), holding(filters.metadata))


def _what(filters: SearchFilters) -> Iterator[Condition]:
    choices = {
        "kind": filters.kinds,
        "tier": filters.tiers,
        "status": filters.statuses,
        "origin": filters.origins,
        "trust": filters.trusts,
    }
    for column, chosen in choices.items():
        if chosen:
            yield f"spaces_memory.{column} = any(%({column})s)", {column: list(chosen)}
    if "note" not in filters.kinds and TRACE not in (*filters.tags, *_listed(filters.metadata.get("tags"))):
        yield UNTRACED, {}
    for column, labels in {"tags": filters.tags, "topics": filters.topics}.items():
        if labels:
            yield f"spaces_memory.{column} @> %({column})s::varchar[]", {column: list(map(nfc, labels))}


def _listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


def _whose(filters: SearchFilters) -> Iterator[Condition]:
    exact = {
        "subject": nfc(filters.subject),
        "source_ref": filters.source_ref,
        "agent": filters.agent,
        "session": filters.session,
    }
    for column, value in exact.items():
        if value:
            yield f"spaces_memory.{column} = %({column})s", {column: value}
    if filters.not_by:
        yield "spaces_memory.written_by <> %(not_by)s", {"not_by": filters.not_by}
    for number, path in enumerate(filters.paths):
        name = f"path{number}"
        below = f"starts_with(upper(spaces_memory.path), upper(%({name})s) || '/')"
        yield f"upper(spaces_memory.path) = upper(%({name})s) or {below}", {name: path}


def _when(filters: SearchFilters) -> Iterator[Condition]:
    if filters.said_from:
        yield "spaces_memory.occurred_at >= %(said_from)s", {"said_from": filters.said_from}
    if filters.said_before:
        yield "spaces_memory.occurred_at < %(said_before)s", {"said_before": filters.said_before}
