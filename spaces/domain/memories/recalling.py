"""Finding memories, and recalling them: the same, but a recall is counted."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from datetime import datetime
from typing import Any, Literal
from uuid import UUID

from django.db.models import F
from django.utils import timezone

from accounts.actor import Actor
from memoryhub.common.errors import InvalidRequest
from memoryhub.common.paging import Page, page_of
from memoryhub.common.times import parse_time, zone
from spaces.domain.access import access_space
from spaces.domain.memories.access import lock_memories
from spaces.domain.search.facets import Facets, count_facets
from spaces.domain.search.filters import SearchFilters, matching
from spaces.domain.search.words import search_words
from spaces.models import Memory, Space

Mode = Literal["words", "newest"]
Row = dict[str, Any]
Told = Callable[["Page[Memory]"], "Page[Row]"]
ACCOUNT = "account"
FOUND_STATUSES = ("active", "superseded", "resolved")


@dataclass(frozen=True)
class Wanted:
    """Which memories are looked through, as a caller says it. Empty means any.

    `scope` is a space (slug or id), or `account` for what belongs to the account as a whole; without it, the
    space of the call and the account's. `bucket` is the first name of a path, `team` the second one below
    `teams/`. Times are texts; `occurred_from` is inclusive, `occurred_before` is not.
    """

    scope: str = ""
    path: str = ""
    bucket: str = ""
    team: str = ""
    kind: str = ""
    tier: str = ""
    subject: str = ""
    tag: str = ""
    topic: str = ""
    origin: str = ""
    trust: str = ""
    agent: str = ""
    source_ref: str = ""
    session: str = ""
    status: str = "active"
    occurred_from: str = ""
    occurred_before: str = ""


@dataclass(frozen=True)
class Found:
    """`met` are the words of the query that each memory was found by."""

    page: Page[Memory]
    mode: Mode
    met: Mapping[UUID, tuple[str, ...]] = field(default_factory=dict)


@dataclass(frozen=True)
class Recalled:
    page: Page[Row]
    mode: Mode


def find_memories(
    actor: Actor, query: str = "", wanted: Wanted = Wanted(), *, limit: int = 20, cursor: str | None = None
) -> Found:
    """The best for the query's words or, without a query, the newest, page by page."""
    filters = _filters(actor, wanted)
    if not query.strip():
        return Found(_newest(actor, filters, wanted, limit, cursor), "newest")
    if cursor:
        raise InvalidRequest("cursor: A search has one page. Send a larger limit, or no q.")
    found = search_words(actor, query, filters=filters, limit=limit)
    page = Page(_in_order(actor, [match.id for match in found.matches]))
    return Found(page, found.mode, {match.id: match.terms for match in found.matches})


def memory_facets(actor: Actor, wanted: Wanted = Wanted()) -> Facets:
    """What the memories that are looked through can be narrowed by."""
    return count_facets(actor, _filters(actor, wanted))


def recall(
    actor: Actor,
    query: str = "",
    wanted: Wanted = Wanted(),
    *,
    limit: int = 20,
    cursor: str | None = None,
    told: Told,
) -> Recalled:
    """As `find_memories`, and what is told of it, which may be less than was found, is counted as recalled."""
    found = find_memories(actor, query, wanted, limit=limit, cursor=cursor)
    page = told(found.page)
    count_recall(actor, [memory.id for memory in found.page.items[: len(page.items)]])
    return Recalled(page, found.mode)


def count_recall(actor: Actor, ids: Iterable[UUID]) -> None:
    """Derived, so that no version rises."""
    locked = lock_memories(Memory.objects.filter(account_id=actor.account_id, id__in=list(ids)))
    if locked:
        Memory.objects.filter(id__in=locked).update(
            recall_count=F("recall_count") + 1, last_recalled_at=timezone.now()
        )


def core_memories(actor: Actor, space: Space) -> list[Memory]:
    """The core of the space and of the account: pinned ones first, then the weightiest, then the newest."""
    core = Memory.objects.active().visible_to(actor).reached_from(space).filter(tier="core")
    return list(core.order_by("-pinned", "-importance", "-created_at", "-id"))


def _filters(actor: Actor, wanted: Wanted) -> SearchFilters:
    space = access_space(actor, wanted.scope if wanted.scope != ACCOUNT else None)
    inside = frozenset[UUID]() if wanted.scope == ACCOUNT else frozenset([space.id])
    clocks = zone(space.time_zone)

    def moment(name: str) -> datetime | None:
        text = getattr(wanted, name)
        return parse_time(text, clocks, field=name) if text else None

    return SearchFilters(
        spaces=inside,
        account_wide=wanted.scope in ("", ACCOUNT),
        kinds=_if_any(wanted.kind),
        tiers=_if_any(wanted.tier),
        statuses=FOUND_STATUSES if wanted.status == "all" else _if_any(wanted.status),
        origins=_if_any(wanted.origin),
        trusts=_if_any(wanted.trust),
        tags=_if_any(wanted.tag),
        topics=_if_any(wanted.topic),
        subject=wanted.subject,
        paths=tuple(
            filter(None, (wanted.path.strip("/"), wanted.bucket, wanted.team and f"teams/{wanted.team}"))
        ),
        source_ref=wanted.source_ref,
        agent=wanted.agent,
        session=wanted.session,
        said_from=moment("occurred_from"),
        said_before=moment("occurred_before"),
    )


def _if_any(value: str) -> tuple[str, ...]:
    return (value,) if value else ()


def _newest(
    actor: Actor, filters: SearchFilters, wanted: Wanted, limit: int, cursor: str | None
) -> Page[Memory]:
    return page_of(
        matching(actor, filters),
        token=cursor,
        size=limit,
        field="cursor",
        actor_key=actor.key,
        filters={"list": "memories", **asdict(wanted), "spaces": filters.spaces},
    )


def _in_order(actor: Actor, ids: Sequence[UUID]) -> list[Memory]:
    found = Memory.objects.filter(account_id=actor.account_id).in_bulk(ids)
    return [found[id] for id in ids if id in found]
