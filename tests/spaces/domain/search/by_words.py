"""The search by words by itself."""

from dataclasses import dataclass
from typing import Literal
from uuid import UUID

from accounts.actor import Actor
from memoryhub.common.text import is_blank
from spaces.domain.embeddings import QueryMeaning
from spaces.domain.search.filters import ANY, SearchFilters
from spaces.domain.search.finding import Finding
from spaces.domain.search.languages import DEFAULT_LANGUAGES, Languages
from spaces.domain.search.words import newest, read_question, words_met


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
    asked = read_question(actor, query, languages, spaces=filters.spaces)
    found = Finding(actor, asked, QueryMeaning(), filters).best(limit) if asked.words else []
    best = sorted(found, key=lambda row: (row.words, row.written, row.id), reverse=True)
    scores = {row.id: row.words for row in best}
    if scores or not (is_blank(query) or asked.says_nothing):
        terms = words_met(actor, asked, list(scores))
        return Found([Match(id, score, terms[id]) for id, score in scores.items()])
    return Found([Match(id, 0.0) for id in newest(actor, filters, limit)], "newest")
