"""Search by words: which memories have them, ranked by BM25, exactly."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import chain
from typing import Literal
from uuid import UUID

from django.db.models import BooleanField, F, FloatField, Func, Value
from django.db.models.expressions import RawSQL
from pgvector import SparseVector

from accounts.actor import Actor
from memoryhub.common.text import is_blank
from spaces.domain.search.bm25 import query_weights
from spaces.domain.search.filters import ANY, SearchFilters, matching
from spaces.domain.search.frequencies import count_memories
from spaces.domain.search.languages import DEFAULT_LANGUAGES, Languages
from spaces.domain.search.lexemes import lexemes_of, to_tsquery_literal
from spaces.domain.search.names import Word
from spaces.domain.search.tokens import query_words
from spaces.models.memories import MemoryQuerySet

# Words are looked for from the rarest on, until as many memories as this are expected to have one of them.
# A common word alone brings nothing near the top; but it counts for whatever a rarer one brings.
# Measured on 5,900 turns of conversation: 1,000 already lose nothing.
EXPECTED_MATCHES = 2_000
MOST_ASKED = 128  # lexemes of a query; the rest of a longer one (a log, a whole document) is not looked for


@dataclass(frozen=True)
class Match:
    """`score` is 0 to 1, comparable between queries; `terms` are the words of the query that were met."""

    id: UUID
    score: float
    terms: tuple[str, ...] = ()


@dataclass(frozen=True)
class Found:
    """Best first; or, where the query asked for nothing in particular, the newest."""

    matches: list[Match]
    mode: Literal["words", "newest"] = "words"


def search_words(
    actor: Actor,
    query: str,
    *,
    filters: SearchFilters = ANY,
    limit: int = 20,
    languages: Languages = DEFAULT_LANGUAGES,
) -> Found:
    """The memories that hold any of the query's words.

    Any text is a query. An empty one asks for the newest; one of stop words alone is searched like any other
    and, where nothing has them, asks for the newest too; one without a word finds nothing.
    """
    words = query_words(query, languages)
    matches = _best(actor, words, filters, limit) if words else []
    if matches or not (is_blank(query) or _says_nothing(words)):
        return Found(matches)
    return Found(_newest(matching(actor, filters), limit), "newest")


def _says_nothing(words: list[Word]) -> bool:
    return bool(words) and all(word.stop for word in words)


def _newest(memories: MemoryQuerySet, limit: int) -> list[Match]:
    ids = memories.order_by("-created_at", "-id").values_list("id", flat=True)[:limit]
    return [Match(id, 0.0) for id in ids]


def _best(actor: Actor, words: list[Word], filters: SearchFilters, limit: int) -> list[Match]:
    asked = list(dict.fromkeys(chain.from_iterable(word.telling for word in words)))[:MOST_ASKED]
    words = [word for word in words if word.telling[0] in asked]
    known, memories = count_memories(actor.account_id, asked)
    if not known:
        return []
    wanted = rarest(known)
    weights = query_weights(words, known, memories)
    matches = _ranked(matching(actor, filters), wanted, weights, words, limit)
    if len(matches) < limit and len(wanted) < len(known):
        # The filters left fewer than expected: then the common words matter as well.
        matches = _ranked(matching(actor, filters), list(known), weights, words, limit)
    return matches


def rarest(known: Mapping[str, int]) -> list[str]:
    """The lexemes to look for: rarest first, within the budget, at least one."""
    wanted: list[str] = []
    expected = 0
    for lexeme, count in sorted(known.items(), key=lambda item: item[1]):
        expected += count
        if wanted and expected > EXPECTED_MATCHES:
            break
        wanted.append(lexeme)
    return wanted


def _ranked(
    memories: MemoryQuerySet, wanted: list[str], weights: SparseVector, words: list[Word], limit: int
) -> list[Match]:
    rows = (
        with_any(memories, wanted)
        .annotate(score=_score(weights))
        .order_by("-score", "-created_at", "-id")
        .values_list("id", "score", "search_vector")[:limit]
    )
    return [Match(id, score, _met(words, lexemes_of(vector or ""))) for id, score, vector in rows]


def with_any(memories: MemoryQuerySet, lexemes: Iterable[str], *, every: bool = False) -> MemoryQuerySet:
    """Those of the memories that have any one of the lexemes, or `every` one.

    Row-level security would keep the index from being used, so a function with its owner's rights reads it,
    within the account in force. It answers where the rows lie, which spares looking each one up by its id; the
    rows themselves pass the policy and the filters as ever. In one statement nothing can move them.
    """
    return memories.filter(having(to_tsquery_literal(lexemes, every=every)))


def having(tsquery: str) -> RawSQL:
    """True of the memories of the account in force that the index says answer it."""
    return RawSQL(
        '"spaces_memory"."ctid" = any(array(select hub_find_memories(%s::tsquery)))',
        [tsquery],
        output_field=BooleanField(),
    )


def _score(weights: SparseVector) -> Func:
    return Func(
        F("search_weights"),
        Value(weights.to_text()),
        template="-(%(expressions)s::sparsevec)",
        arg_joiner=" <#> ",
        output_field=FloatField(),
    )


def _met(words: Iterable[Word], lexemes: frozenset[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(word.text for word in words if not lexemes.isdisjoint(word.telling)))
