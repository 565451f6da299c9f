"""The one ranking behind everything that searches memories: words and meaning together, in numbers that add up.

What either leg finds is scored by both. Half of a score is the cosine of question and memory, half its BM25 as a
share of the best that the question could get; both mean the same for every question, so that no score depends on
what else was found. A memory that has no vector yet is scored by its words alone.
"""

from collections.abc import Collection, Iterable
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any, Literal
from uuid import UUID

from django.db.models.functions import Left, Length

from accounts.actor import Actor
from memoryhub.common.text import is_blank
from spaces.domain.embeddings.queries import QueryMeaning
from spaces.domain.search.filters import ANY, SearchFilters, matching
from spaces.domain.search.languages import DEFAULT_LANGUAGES, Languages
from spaces.domain.search.meaning import cosines, search_meaning
from spaces.domain.search.neighbours import adjacent
from spaces.domain.search.priors import Priors, Question
from spaces.domain.search.words import Asked, best_by_words, newest, read_question, score, words_met

Mode = Literal["hybrid", "words", "newest"]

CANDIDATES = 50
"""That each leg brings, or as many as are wanted."""
HALF = 0.5
LENT = 0.2
"""What a memory lends to those beside it, as a share of what its own words and meaning are worth."""
LENDERS = 30
HEAD = 1000
"""Characters of a text that are read for what they say of time."""

ONLY_WORDS = QueryMeaning()


@dataclass(frozen=True)
class Candidate:
    """A memory with all that its place depends on. `words` is 0 to 1; `cosine` None: it has no vector yet."""

    id: UUID
    created_at: datetime
    session: str
    words: float
    priors: Priors
    cosine: float | None = None
    similarity: float | None = None
    neighbour: float = 0.0
    met: tuple[str, ...] = ()

    @property
    def by_words(self) -> float:
        return self.words if self.cosine is None else HALF * self.words

    @property
    def by_meaning(self) -> float:
        return HALF * (self.cosine or 0.0)

    @property
    def worth(self) -> float:
        return self.by_words + self.by_meaning

    @property
    def score(self) -> float:
        return self.worth + self.priors.sum + self.neighbour

    @property
    def related(self) -> bool:
        """What has no word of the question, and is no nearer to it than texts that have nothing to do with each
        other, is not found at all. A higher bar would lose answers in another language."""
        return self.words > 0 or bool(self.similarity)


@dataclass(frozen=True)
class Ranked:
    """Best first; or, where the question asked for nothing in particular, the newest, as `newest`."""

    hits: list[Candidate] = field(default_factory=list)
    mode: Mode = "words"
    newest: list[UUID] = field(default_factory=list)

    @property
    def ids(self) -> list[UUID]:
        return self.newest or [hit.id for hit in self.hits]


@dataclass(frozen=True)
class Search:
    """One question in one account."""

    actor: Actor
    asked: Asked
    question: Question
    meaning: QueryMeaning
    filters: SearchFilters

    def found_by_words(self, limit: int) -> list[UUID]:
        return list(best_by_words(self.actor, self.asked, self.filters, limit))

    def found_by_meaning(self, limit: int) -> dict[UUID, float]:
        model, vector = self.meaning.model, self.meaning.vector
        if model is None or vector is None:
            return {}
        return search_meaning(self.actor, model, vector, filters=self.filters, limit=limit)

    def candidates(self, ids: Collection[UUID], near: dict[UUID, float]) -> dict[UUID, Candidate]:
        """Those that the filters let through, scored on both legs. `near` are cosines known already."""
        rows = matching(self.actor, self.filters).filter(id__in=ids)
        known = near | self._cosines([id for id in ids if id not in near])
        read = rows.annotate(
            words=score(self.asked.weights), length=Length("text"), head=Left("text", HEAD)
        ).values(*FIELDS, "words", "length", "head")
        return {row["id"]: self._candidate(row, known.get(row["id"])) for row in read}

    def _cosines(self, ids: Collection[UUID]) -> dict[UUID, float]:
        model, vector = self.meaning.model, self.meaning.vector
        return cosines(self.actor, model, vector, ids) if model and vector is not None else {}

    def _candidate(self, row: dict[str, Any], cosine: float | None) -> Candidate:
        actors = filter(None, (row["agent"] or row["decided_by"], row["subject"]))
        scale = self.meaning.model.scale if self.meaning.model else None
        return Candidate(
            id=row["id"],
            created_at=row["created_at"],
            session=row["session"],
            words=row["words"] or 0.0,
            priors=self.question.priors(row["head"], row["length"], actors),
            cosine=cosine,
            similarity=scale.similarity(cosine) if scale and cosine is not None else None,
        )


FIELDS = ("id", "created_at", "session", "agent", "decided_by", "subject")


def search(
    actor: Actor,
    query: str,
    meaning: QueryMeaning = ONLY_WORDS,
    *,
    filters: SearchFilters = ANY,
    limit: int = 20,
    explain: bool = False,
    languages: Languages = DEFAULT_LANGUAGES,
) -> Ranked:
    """The memories that answer the query best. Without a `meaning`, which is its vector, by words alone.

    Any text is a query. An empty one asks for the newest; so does one of stop words alone that nothing has; one
    without a word finds nothing. With `explain`, each hit tells the words that it has.
    """
    asked = read_question(actor, query, languages)
    one = Search(actor, asked, Question(query), meaning, filters)
    pool = max(CANDIDATES, limit)
    by_words = one.found_by_words(pool)
    if not by_words and (is_blank(query) or asked.says_nothing):
        return Ranked(mode="newest", newest=newest(actor, filters, limit))
    hits = _ordered(_found(one, by_words, pool) if asked.words else ())[:limit]
    mode: Mode = "words" if meaning.vector is None else "hybrid"
    return Ranked(_with_words(one, hits) if explain else hits, mode)


def _found(one: Search, by_words: list[UUID], pool: int) -> Iterable[Candidate]:
    near = one.found_by_meaning(pool)
    candidates = one.candidates(list(dict.fromkeys([*by_words, *near])), near)
    related = {id: candidate for id, candidate in candidates.items() if candidate.related}
    return _with_neighbours(one, related).values()


def _with_neighbours(one: Search, candidates: dict[UUID, Candidate]) -> dict[UUID, Candidate]:
    """Each borrows from the better one beside it; one that was not found itself comes in that way."""
    lenders = [c for c in _ordered(candidates.values())[:LENDERS] if c.session]
    lent: dict[UUID, float] = {}
    for lender, beside in adjacent(one.actor.account_id, [c.id for c in lenders]).items():
        for id in beside:
            lent[id] = max(lent.get(id, 0.0), LENT * candidates[lender].worth)
    newcomers = one.candidates([id for id in lent if id not in candidates], {}) if lent else {}
    everyone = candidates | newcomers
    borrowers = {id: replace(everyone[id], neighbour=lent[id]) for id in lent if id in everyone}
    return everyone | borrowers


def _ordered(candidates: Iterable[Candidate]) -> list[Candidate]:
    return sorted(candidates, key=lambda c: (c.score, c.created_at, c.id), reverse=True)


def _with_words(one: Search, hits: list[Candidate]) -> list[Candidate]:
    met = words_met(one.actor, one.asked, [hit.id for hit in hits])
    return [replace(hit, met=met.get(hit.id, ())) for hit in hits]
