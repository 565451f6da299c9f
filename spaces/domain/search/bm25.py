"""BM25, split so that the database only has to multiply: a memory's part is stored, a query's part is sent.

A score is divided by the best one the query could have got, so it lies between 0 and 1 and means the same for
every query: `sum(idf · tf / (tf + K1 · length)) / sum(idf)`.
"""

from collections.abc import Iterable, Mapping
from math import log

from pgvector import SparseVector

from spaces.domain.search.lexemes import DIMENSIONS, dimension
from spaces.domain.search.names import Word

K1 = 0.9  # how soon a word repeated says no more

# How much the length of a text counts against it: hardly among short ones, where it is chance, more for a long
# one, which has everything somewhere. In words; continuous where the short ones end.
B_SHORT, AVERAGE_SHORT, SHORT = 0.1, 30, 200
B_LONG, AVERAGE_LONG = 0.4, 400


def memory_weights(counts: Mapping[str, int], words: int) -> SparseVector:
    """What each lexeme of a text adds to the score of a query that asks for it."""
    cost = K1 * _length(words)
    return _vector((lexeme, count / (count + cost)) for lexeme, count in counts.items())


def query_weights(words: Iterable[Word], known: Mapping[str, int], memories: int) -> SparseVector:
    """What each lexeme of a query counts for. `known` says how many of the account's memories have it.

    A word that no memory has counts as the rarest possible, so that a query it belongs to scores lower.
    """
    rarity = {lexeme: idf(count, memories) for lexeme, count in known.items() if count}
    strangers = sum(1 for word in words if not rarity.keys() & set(word.telling))
    best = sum(rarity.values()) + strangers * idf(0, memories)
    return _vector((lexeme, weight / best) for lexeme, weight in rarity.items())


def idf(having: int, memories: int) -> float:
    return log(1 + (max(memories, having) - having + 0.5) / (having + 0.5))


def _length(words: int) -> float:
    short, beyond = min(words, SHORT), max(words - SHORT, 0)
    return 1 - B_SHORT + B_SHORT * short / AVERAGE_SHORT + B_LONG * beyond / AVERAGE_LONG


def _vector(weights: Iterable[tuple[str, float]]) -> SparseVector:
    summed: dict[int, float] = {}
    for lexeme, weight in weights:
        place = dimension(lexeme)
        summed[place] = summed.get(place, 0.0) + weight
    return SparseVector(summed, DIMENSIONS)
