"""Memories as records of what was decided: listed newest first, and searched in a total order."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice
from uuid import UUID

from django.db.models import Count, Exists, F, FloatField, Func, OuterRef, Value
from pgvector import SparseVector

from accounts.actor import Actor
from accounts.domain.accounts import acting_in
from memoryhub.common.errors import ValidationFailed
from memoryhub.common.paging import Page, page_of
from memoryhub.common.text import nfc
from spaces.domain.access import access_space
from spaces.domain.embeddings import QueryMeaning
from spaces.domain.memories import meaning_of
from spaces.domain.memories.recalling import in_order
from spaces.domain.memories.superseding import Chain, chains_of
from spaces.domain.search.filters import SearchFilters, matching
from spaces.domain.search.holding import something_of_every
from spaces.domain.search.names import Word
from spaces.domain.search.ranking import Mode, search
from spaces.domain.search.tokens import holds_all_words, query_words
from spaces.domain.search.words import newest, read_question
from spaces.domain.whoami import spaces_with_roles
from spaces.models import EmbeddingModel, Memory, MemoryChunk, Space
from spaces.models.memories import KINDS, MemoryQuerySet

LISTED = ("active", "superseded", "resolved")
INACTIVE = ("superseded", "resolved")
LOOKED_THROUGH = 400
"""Of the memories without a vector that may hold every word, the best."""
_ASKING = """
    choose chose chosen decide decided pick picked agree agreed settle settled happen happened know tell say said
    think thought remember mean meant
"""
ASKING = frozenset(_ASKING.split())
"""Words by which one asks after a decision, and which the decision itself needn't hold."""


@dataclass(frozen=True)
class Listed:
    page: Page[Memory]
    chains: dict[UUID, Chain]


@dataclass(frozen=True)
class Ranked:
    """`match` says how it was found: `meaning` (with its words), `words` alone, or as one of the `newest`."""

    memory: Memory
    score: float
    match: str


@dataclass(frozen=True)
class Found:
    items: list[Ranked]
    mode: Mode
    chains: dict[UUID, Chain]
    notes: Sequence[str] = ()


@dataclass(frozen=True)
class Wanted:
    """Empty means any. Without a `space`: every one that the actor reads, and the account as a whole."""

    space: str = ""
    kind: str = ""
    agent: str = ""
    session: str = ""
    status: str = ""
    topic: str = ""

    def __post_init__(self) -> None:
        for name, value, allowed in (("kind", self.kind, KINDS), ("status", self.status, LISTED)):
            if value and value not in allowed:
                raise ValidationFailed({name: [f"Must be one of {', '.join(allowed)}, or empty."]})


def list_records(
    actor: Actor, wanted: Wanted, *, account: str = "", size: int = 50, token: str | None = None
) -> Listed:
    """Newest first."""
    with acting_in(actor, account) as there:
        filters = _filters(there, wanted, (wanted.status,) if wanted.status else LISTED)
        page = page_of(
            matching(there, filters),
            token=token,
            size=size,
            actor_key=actor.key,
            filters={"list": "decisions", "account": there.account_id, **vars(wanted)},
        )
        return Listed(page, chains_of(there, page.items))


def search_records(
    actor: Actor,
    query: str,
    wanted: Wanted,
    *,
    account: str = "",
    include_inactive: bool = False,
    limit: int = 20,
    meaning: QueryMeaning | None = None,
) -> Found:
    """Active ones first; then those that have a vector, by meaning and words, before those without, which have to
    hold every word; then by score; then newest.

    To be called before the account is opened, since the query's vector may take a while; or with that `meaning`.
    """
    meaning = meaning or meaning_of(query)
    notes = [f"Search is by words alone for now: {meaning.degraded}"] if meaning.degraded else []
    with acting_in(actor, account) as there:
        items, mode = _search(there, query, meaning, _filters(there, wanted, ("active",)), limit)
        if include_inactive and len(items) < limit:
            filters = _filters(there, wanted, INACTIVE)
            items += _search(there, query, meaning, filters, limit - len(items))[0]
        return Found(items, mode, chains_of(there, [item.memory for item in items]), notes)


def list_spaces(
    actor: Actor, *, account: str = "", size: int = 50, token: str | None = None
) -> tuple[Page[Space], dict[UUID, str], dict[UUID, int]]:
    """By name, those the actor reads: the page, the actor's role in each, and how many memories each has."""
    with acting_in(actor, account) as there:
        page = page_of(
            Space.objects.visible_to(there),
            token=token,
            size=size,
            actor_key=actor.key,
            filters={"list": "spaces", "account": there.account_id},
            order=("name", "id"),
        )
        roles = {space.id: str(role) for space, role in spaces_with_roles(there)}
        live = Memory.objects.live().filter(
            account_id=there.account_id, space_id__in=[s.id for s in page.items]
        )
        counts = live.values("space_id").annotate(n=Count("id")).values_list("space_id", "n")
        return page, roles, {space_id: n for space_id, n in counts.order_by() if space_id}


def _filters(actor: Actor, wanted: Wanted, statuses: tuple[str, ...]) -> SearchFilters:
    space = access_space(actor, wanted.space) if wanted.space else None
    return SearchFilters(
        spaces=frozenset([space.id]) if space else None,
        account_wide=space is None,
        kinds=(wanted.kind,) if wanted.kind else (),
        statuses=statuses,
        topics=(nfc(wanted.topic.strip()),) if wanted.topic.strip() else (),
        agent=wanted.agent.strip(),
        session=wanted.session.strip(),
    )


def _search(
    actor: Actor, query: str, meaning: QueryMeaning, filters: SearchFilters, limit: int
) -> tuple[list[Ranked], Mode]:
    found, mode = _by_meaning(actor, query, meaning, filters, limit)
    if len(found) < limit:
        found += _by_every_word(actor, query, meaning.model, filters, limit - len(found))
    if not found and _says_nothing(query):
        return _newest(actor, filters, limit), "newest"
    return found, mode


def _by_meaning(
    actor: Actor, query: str, meaning: QueryMeaning, filters: SearchFilters, limit: int
) -> tuple[list[Ranked], Mode]:
    """Those that have a vector to compare with the question's, if it has one."""
    if meaning.vector is None:
        return [], "words"
    ranked = search(actor, query, meaning, filters=filters, limit=2 * limit)
    near = {hit.id: hit.score for hit in ranked.hits if hit.cosine is not None}
    rows = in_order(actor, list(near)[:limit])
    found = [Ranked(memory, near[memory.id], "meaning") for memory in rows]
    return found, "words" if ranked.mode == "newest" else ranked.mode


def _says_nothing(query: str) -> bool:
    """Stop words alone."""
    words = query_words(query)
    return bool(words) and all(word.stop for word in words)


def _newest(actor: Actor, filters: SearchFilters, limit: int) -> list[Ranked]:
    return [Ranked(row, 0.0, "newest") for row in in_order(actor, newest(actor, filters, limit))]


def _by_every_word(
    actor: Actor, query: str, model: EmbeddingModel | None, filters: SearchFilters, limit: int
) -> list[Ranked]:
    """Of the memories that have no vector to compare: whose text or topics hold every word."""
    words = _telling(query)
    if not words:
        return []
    weights = read_question(actor, query, spaces=filters.spaces).weights
    rows = _without_vector(matching(actor, filters), model).filter(something_of_every(words))
    scored = rows.annotate(share=_share(weights)).order_by("-share", "-created_at", "-id")
    looked = scored.values_list("id", "share", "text", "topics")[:LOOKED_THROUGH]
    held = ((id, share) for id, share, text, topics in looked if holds_all_words(words, text, *topics))
    shares = dict(islice(held, limit))
    return [Ranked(memory, shares[memory.id] or 0.0, "words") for memory in in_order(actor, list(shares))]


def _share(weights: SparseVector) -> Func:
    """Of each memory by the question's words, 0 to 1."""
    return Func(
        F("search_weights"),
        Value(weights.to_text()),
        template="-(%(expressions)s::sparsevec)",
        arg_joiner=" <#> ",
        output_field=FloatField(),
    )


def _telling(query: str) -> list[Word]:
    words = query_words(query)
    return [word for word in words if word.text.casefold() not in ASKING] or words


def _without_vector(rows: MemoryQuerySet, model: EmbeddingModel | None) -> MemoryQuerySet:
    if model is None:
        return rows
    vectors = MemoryChunk.objects.of(model).filter(
        account_id=OuterRef("account_id"), memory_id=OuterRef("id")
    )
    return rows.exclude(Exists(vectors))
