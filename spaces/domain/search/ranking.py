"""The one ranking behind everything that searches memories: words and meaning together, in numbers that add up.

What either leg finds is scored by both. Half of a score is the cosine of question and memory, half its BM25 as a
share of the best that the question could get; both mean the same for every question, so that no score depends on
what else was found. A memory that has no vector yet is scored by its words alone.
"""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Literal
from uuid import UUID

from accounts.actor import Actor
from memoryhub.common.text import is_blank
from spaces.domain.embeddings.queries import QueryMeaning
from spaces.domain.search.filters import ANY, SearchFilters
from spaces.domain.search.finding import Finding, Row
from spaces.domain.search.languages import DEFAULT_LANGUAGES, Languages
from spaces.domain.search.priors import Priors, Question
from spaces.domain.search.sources import crowd, others_write, source_of, spread
from spaces.domain.search.words import newest, read_question, words_met

Mode = Literal["hybrid", "words", "newest"]

CANDIDATES = 50
"""That each leg brings, or as many as are wanted."""
HALF = 0.5
LENT = 0.2
"""What a memory lends to those beside it, as a share of what its own words and meaning are worth."""
LENDERS = 30

ONLY_WORDS = QueryMeaning()


@dataclass(frozen=True)
class Candidate:
    """A memory with all that its place depends on. `written` is in seconds, `words` 0 to 1; `cosine` None:
    it has no vector yet; `source`: whose it is, as far as that matters."""

    id: UUID
    written: float
    session: str
    words: float
    priors: Priors
    cosine: float | None = None
    similarity: float | None = None
    neighbour: float = 0.0
    met: tuple[str, ...] = ()
    source: str = ""

    @property
    def by_words(self) -> float:
        return self.words if self.cosine is None else HALF * self.words

    @property
    def by_meaning(self) -> float:
        return HALF * (self.cosine or 0.0)

    @cached_property
    def worth(self) -> float:
        return self.by_words + self.by_meaning

    @cached_property
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
    asked = read_question(actor, query, languages, spaces=filters.spaces)
    if is_blank(query):
        return Ranked(mode="newest", newest=newest(actor, filters, limit))
    one = Search(Finding(actor, asked, meaning, filters), Question(query))
    found = one.best(max(CANDIDATES, limit)) if asked.words else []
    if asked.says_nothing and not any(candidate.words for candidate in found):
        return Ranked(mode="newest", newest=newest(actor, filters, limit))
    hits = spread(_ordered(one.with_neighbours(found)), limit)
    mode: Mode = "words" if meaning.vector is None else "hybrid"
    return Ranked(one.with_words(hits) if explain else hits, mode)


@dataclass(frozen=True)
class Search:
    """One question as it is ranked."""

    finding: Finding
    question: Question

    def best(self, pool: int) -> list[Candidate]:
        """What either leg brings, as far as it has to do with the question. Where one source brings all of it, what
        the others have is looked for as well."""
        found = self._related(self.finding, pool)
        source = crowd(found, pool)
        if source and others_write(self.finding.actor.account_id, source):
            filters = replace(self.finding.filters, not_by=source)
            found += self._related(replace(self.finding, filters=filters), pool)
        return found

    def _related(self, finding: Finding, pool: int) -> list[Candidate]:
        candidates = (self._candidate(row) for row in finding.best(pool))
        return [candidate for candidate in candidates if candidate.related]

    def with_neighbours(self, found: Sequence[Candidate]) -> Collection[Candidate]:
        """Each borrows from the better one beside it; one that was not found itself comes in that way."""
        lenders = {c.id: c for c in _ordered(c for c in found if c.session)[:LENDERS]}
        if not lenders:
            return found
        everyone = {candidate.id: candidate for candidate in found}
        lent: dict[UUID, float] = {}
        for lender, row in self.finding.beside(lenders):
            everyone.setdefault(row.id, self._candidate(row))
            lent[row.id] = max(lent.get(row.id, 0.0), LENT * lenders[lender].worth)
        return [replace(c, neighbour=lent[c.id]) if c.id in lent else c for c in everyone.values()]

    def with_words(self, hits: list[Candidate]) -> list[Candidate]:
        met = words_met(self.finding.actor, self.finding.asked, [hit.id for hit in hits])
        return [replace(hit, met=met.get(hit.id, ())) for hit in hits]

    def _candidate(self, row: Row) -> Candidate:
        actors = filter(None, (row.agent or row.decided_by, row.subject))
        model, cosine = self.finding.meaning.model, None if row.distance is None else 1 - row.distance
        return Candidate(
            id=row.id,
            written=row.written,
            session=row.session,
            words=row.words,
            priors=self.question.priors(row.head, row.length, actors, in_session=bool(row.session)),
            cosine=cosine,
            similarity=model.scale.similarity(cosine) if model and cosine is not None else None,
            source=source_of(row.written_by, row.trust),
        )


def _ordered(candidates: Iterable[Candidate]) -> list[Candidate]:
    return sorted(candidates, key=lambda c: (c.score, c.written, c.id), reverse=True)
