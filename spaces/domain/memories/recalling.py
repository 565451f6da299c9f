"""Finding memories, and recalling them: the same, but a recall is counted."""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from datetime import datetime
from typing import Any
from uuid import UUID

from django.utils import timezone

from accounts.actor import Actor
from memoryhub.common.errors import InvalidRequest
from memoryhub.common.paging import Page, page_of
from memoryhub.common.postgres.rows import Columns
from memoryhub.common.postgres.statements import rows_of, run
from memoryhub.common.tenancy import tenant
from memoryhub.common.times import parse_time, zone
from spaces.domain.access import access_space
from spaces.domain.embeddings import QueryMeaning, embed_query
from spaces.domain.embeddings.queries import LONGEST
from spaces.domain.reranking import CONSIDERED, best_order, reranks
from spaces.domain.search.facets import Facets, count_facets
from spaces.domain.search.filters import SearchFilters, matching
from spaces.domain.search.ranking import Candidate, Mode, search
from spaces.domain.search.sources import spread
from spaces.models import Memory, Space
from spaces.models.memories import UNREAD

Row = dict[str, Any]
Told = Callable[["Page[Memory]"], "Page[Row]"]
ACCOUNT, EVERYWHERE = "account", "*"

# By hand, since every recall does both: built by the ORM they cost as much again. Of two who count some of the
# same, one waits for the other, and neither waits for the disk.
COLUMNS = Columns(Memory, without=UNREAD)
READ = f"""
    select {", ".join(COLUMNS.names)} from spaces_memory where account_id = %(account)s and id = any(%(ids)s)
"""  # noqa: S608
COUNT = """
    with locked as materialized (
        select id, set_config('synchronous_commit', 'off', true) from spaces_memory
         where account_id = %(account)s and id = any(%(ids)s) order by id for no key update
    )
    update spaces_memory set recall_count = recall_count + 1, last_recalled_at = %(now)s
      from locked where account_id = %(account)s and spaces_memory.id = locked.id
"""
FOUND_STATUSES = ("active", "superseded", "resolved")


@dataclass(frozen=True)
class Wanted:
    """Which memories are looked through, as a caller says it. Empty means any.

    `scope` is a space (slug or id), or `account` for what belongs to the account as a whole; without it, the
    space of the call and the account's. With `*` it is every space that the actor reads, unless the request names
    one. `bucket` is the first name of a path, `team` the second one below
    `teams/`. Times are texts; `occurred_from` is inclusive, `occurred_before` is not. Each field of `metadata` is to
    hold what is given, or one of a list.
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
    metadata: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Found:
    """`reasons` are why each memory is where it is; `notes` what the caller should know of how it was searched."""

    page: Page[Memory]
    mode: Mode
    reasons: Mapping[UUID, Candidate] = field(default_factory=dict)
    notes: Sequence[str] = ()


@dataclass(frozen=True)
class Recalled:
    page: Page[Row]
    mode: Mode
    reasons: Sequence[Candidate] = ()
    """Of all that was found."""
    notes: Sequence[str] = ()


def find_memories(
    actor: Actor,
    query: str = "",
    wanted: Wanted = Wanted(),
    *,
    limit: int = 20,
    cursor: str | None = None,
    explain: bool = False,
    meaning: QueryMeaning | None = None,
) -> Found:
    """The best for the query or, without one, the newest, page by page.

    To be called before the account is opened, since the query's vector may take a while; or with that `meaning`,
    and then without the reranker.
    With `explain`, the reasons tell the words that each memory has.
    """
    asked = _Asked(query, meaning or meaning_of(query), limit, cursor, explain)
    if meaning is None and query.strip() and reranks():
        return _find_reranked(actor, asked, wanted)
    with tenant(actor.account_id):
        return _find(actor, asked, wanted)


@dataclass(frozen=True)
class _Asked:
    query: str
    meaning: QueryMeaning
    limit: int
    cursor: str | None
    explain: bool


def _find(actor: Actor, asked: _Asked, wanted: Wanted) -> Found:
    """Inside the account."""
    filters = filters_of(actor, wanted)
    if not asked.query.strip():
        return Found(_newest(actor, filters, wanted, asked.limit, asked.cursor), "newest")
    if asked.cursor:
        raise InvalidRequest("cursor: A search has one page. Send a larger limit, or no q.")
    ranked = search(
        actor, asked.query, asked.meaning, filters=filters, limit=asked.limit, explain=asked.explain
    )
    page = Page(in_order(actor, ranked.ids))
    return Found(page, ranked.mode, {hit.id: hit for hit in ranked.hits}, _notes(asked.meaning))


def _find_reranked(actor: Actor, asked: _Asked, wanted: Wanted) -> Found:
    """Opens the account for itself, and has left it when the reranker is asked."""
    more = replace(asked, limit=max(asked.limit, CONSIDERED))
    with tenant(actor.account_id):
        found = _find(actor, more, wanted)
    if found.mode == "newest":
        return replace(found, page=Page(found.page.items[: asked.limit]))
    order, note = best_order(asked.query, found.page.items)
    best = spread([found.reasons[found.page.items[place].id] for place in order], asked.limit)
    reasons = {candidate.id: candidate for candidate in best}
    notes = [*found.notes, f"The order is the hub's own: {note}"] if note else found.notes
    memories = {memory.id: memory for memory in found.page.items}
    return Found(Page([memories[id] for id in reasons]), found.mode, reasons, notes)


def meaning_of(query: str) -> QueryMeaning:
    return embed_query(query) if query.strip() else QueryMeaning()


def _notes(meaning: QueryMeaning) -> list[str]:
    notes = []
    if meaning.degraded:
        notes.append(f"Search is by words alone for now: {meaning.degraded}")
    if meaning.shortened:
        notes.append(f"The query is long: only its first {LONGEST:,} characters were read for their meaning.")
    return notes


def memory_facets(actor: Actor, wanted: Wanted = Wanted()) -> Facets:
    """What the memories that are looked through can be narrowed by."""
    return count_facets(actor, filters_of(actor, wanted))


def recall(
    actor: Actor,
    query: str = "",
    wanted: Wanted = Wanted(),
    *,
    limit: int = 20,
    cursor: str | None = None,
    explain: bool = False,
    meaning: QueryMeaning | None = None,
    told: Told,
) -> Recalled:
    """As `find_memories`, and what is told of it, which may be less than was found, is counted as recalled."""
    asked = _Asked(query, meaning or meaning_of(query), limit, cursor, explain)
    last_word = meaning is None and bool(query.strip()) and reranks()
    reranked = _find_reranked(actor, asked, wanted) if last_word else None
    with tenant(actor.account_id):
        found = reranked or _find(actor, asked, wanted)
        page = told(found.page)
        count_recall(actor, [memory.id for memory in found.page.items[: len(page.items)]])
    return Recalled(page, found.mode, list(found.reasons.values()), found.notes)


def count_recall(actor: Actor, ids: Collection[UUID]) -> None:
    """Derived, so that no version rises. The last thing in a transaction that writes nothing else."""
    if ids:
        run(COUNT, {"account": actor.account_id, "ids": list(ids), "now": timezone.now()})


def core_memories(actor: Actor, space: Space) -> list[Memory]:
    """The core of the space and of the account: pinned ones first, then the weightiest, then the newest."""
    core = Memory.objects.active().visible_to(actor).reached_from(space).filter(tier="core")
    return list(core.order_by("-pinned", "-importance", "-created_at", "-id"))


def filters_of(actor: Actor, wanted: Wanted) -> SearchFilters:
    scope = "" if wanted.scope == EVERYWHERE and actor.space_ref else wanted.scope
    space = access_space(actor, scope if scope not in (ACCOUNT, EVERYWHERE) else None)
    inside = frozenset[UUID]() if scope == ACCOUNT else frozenset([space.id])
    clocks = zone(space.time_zone)

    def moment(name: str) -> datetime | None:
        text = getattr(wanted, name)
        return parse_time(text, clocks, field=name) if text else None

    return SearchFilters(
        spaces=None if scope == EVERYWHERE else inside,
        account_wide=scope in ("", ACCOUNT, EVERYWHERE),
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
        metadata=wanted.metadata,
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


def in_order(actor: Actor, ids: Sequence[UUID]) -> list[Memory]:
    """Those that are there, in this order."""
    if not ids:
        return []
    rows = rows_of(READ, {"account": actor.account_id, "ids": list(ids)})
    found = {memory.id: memory for memory in map(COLUMNS.read, rows)}
    return [found[id] for id in ids if id in found]
