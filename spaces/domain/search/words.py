"""Search by words: which memories have them, ranked by BM25, exactly."""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from itertools import chain
from uuid import UUID

from django.db.models import BooleanField
from django.db.models.expressions import RawSQL
from pgvector import SparseVector

from accounts.actor import Actor
from spaces.domain.search.bm25 import query_weights
from spaces.domain.search.filters import SearchFilters, matching
from spaces.domain.search.frequencies import count_memories
from spaces.domain.search.languages import DEFAULT_LANGUAGES, Languages
from spaces.domain.search.lexemes import DIMENSIONS, lexemes_of
from spaces.domain.search.names import Word
from spaces.domain.search.tokens import query_words
from spaces.models import Memory

# Words are looked for from the rarest on, until as many memories as this are expected to have one of them.
# A common word alone brings nothing near the top; but it counts for whatever a rarer one brings.
# Measured on 5,900 turns of conversation: 1,000 already lose nothing.
EXPECTED_MATCHES = 2_000
NO_WEIGHTS = SparseVector({}, DIMENSIONS)
# Row-level security would keep the index from being used, so a function with its owner's rights reads it,
# within the account in force. It answers where the rows lie, which spares looking each one up by its id; the
# rows themselves pass the policy and the filters as ever. In one statement nothing can move them.
HAVING = "hub_find_memories(%(tsquery)s::tsquery)"

MOST_ASKED = 128  # lexemes of a query; the rest of a longer one (a log, a whole document) is not looked for


@dataclass(frozen=True)
class Asked:
    """A question as words. `known` are those of their lexemes that any memory has, with how many have it."""

    words: list[Word]
    known: Mapping[str, int]
    weights: SparseVector

    @property
    def says_nothing(self) -> bool:
        """Stop words alone."""
        return bool(self.words) and all(word.stop for word in self.words)


def newest(actor: Actor, filters: SearchFilters, limit: int) -> list[UUID]:
    memories = matching(actor, filters).order_by("-created_at", "-id")
    return list(memories.values_list("id", flat=True)[:limit])


def read_question(
    actor: Actor,
    query: str,
    languages: Languages = DEFAULT_LANGUAGES,
    *,
    spaces: Collection[UUID] | None = None,
) -> Asked:
    """With `spaces`, what is rare there and in what the account holds as a whole counts most."""
    words = query_words(query, languages)
    asked = list(dict.fromkeys(chain.from_iterable(word.telling for word in words)))[:MOST_ASKED]
    words = [word for word in words if word.telling[0] in asked]
    if not words:
        return Asked(words, {}, NO_WEIGHTS)
    known, memories = count_memories(actor.account_id, asked, spaces)
    return Asked(words, known, query_weights(words, known, memories) if known else NO_WEIGHTS)


def words_met(actor: Actor, asked: Asked, ids: Collection[UUID]) -> dict[UUID, tuple[str, ...]]:
    """Memory → the words, as they were asked, that it has."""
    rows = Memory.objects.filter(account_id=actor.account_id, id__in=ids).values_list("id", "search_vector")
    return {id: _met(asked.words, lexemes_of(vector or "")) for id, vector in rows}


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


def having(tsquery: str) -> RawSQL:
    """True of the memories of the account in force that the index says answer it."""
    places = f"spaces_memory.ctid = any(array(select {HAVING % {'tsquery': '%s'}}))"
    return RawSQL(places, [tsquery], output_field=BooleanField())  # noqa: S611


def _met(words: Iterable[Word], lexemes: frozenset[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(word.text for word in words if not lexemes.isdisjoint(word.telling)))
