"""How many memories have a lexeme, of an account or of some spaces: exact, read off the index, remembered while it
is common."""

from collections.abc import Collection
from time import monotonic
from uuid import UUID

from memoryhub.common.postgres.statements import rows_of
from spaces.domain.search.lexemes import dimension, inside, to_tsquery_literal

# Counting costs about a microsecond a memory, and a large count moves slowly: one of so many or more is kept
# in the process, the longer the larger it is, for so many seconds at most; what an account grows by meanwhile is
# a small part of it. By dimension: no word of a memory is kept outside the database.
COMMON = 100
KEPT_FOR = 300
COUNTED_A_SECOND = 100
MOST_KEPT = 100_000

EVERYTHING = ""  # asks for no lexeme in particular: the number of all memories there

Place = tuple[UUID, frozenset[UUID] | None]
"""An account, and the spaces that are counted in beside what it holds as a whole; None: all of them."""

_kept: dict[tuple[Place, int], tuple[int, float]] = {}


def count_memories(
    account_id: UUID, lexemes: list[str], spaces: Collection[UUID] | None = None
) -> tuple[dict[str, int], int]:
    """The counts of those lexemes that any memory has, and of all memories, in the account in force.

    With `spaces`: in these and in what the account holds as a whole. What is rare is what is rare there.
    """
    place = account_id, None if spaces is None else frozenset(spaces)
    asked = [*lexemes, EVERYTHING]
    counts = _recalled(place, asked)
    missing = [lexeme for lexeme in asked if lexeme not in counts]
    if missing:
        fresh = dict(zip(missing, _count(missing, spaces), strict=True))
        _keep(place, fresh)
        counts |= fresh
    return {lexeme: counts[lexeme] for lexeme in lexemes if counts[lexeme]}, counts[EVERYTHING]


def forget_counts() -> None:
    """As if the process had just started."""
    _kept.clear()


def _count(lexemes: list[str], spaces: Collection[UUID] | None) -> list[int]:
    queries = [inside(to_tsquery_literal([lexeme] if lexeme else []), spaces) for lexeme in lexemes]
    ((counts,),) = rows_of("select hub_count_memories(%s::text[]::tsquery[])", [queries])
    return list(counts)


def _recalled(place: Place, lexemes: list[str]) -> dict[str, int]:
    now = monotonic()
    found = ((lexeme, _kept.get((place, dimension(lexeme)))) for lexeme in lexemes)
    return {lexeme: entry[0] for lexeme, entry in found if entry and entry[1] > now}


def _keep(place: Place, counts: dict[str, int]) -> None:
    if len(_kept) > MOST_KEPT:
        _kept.clear()
    now = monotonic()
    _kept.update(
        {
            (place, dimension(lexeme)): (count, now + min(KEPT_FOR, count / COUNTED_A_SECOND))
            for lexeme, count in counts.items()
            if count >= COMMON
        }
    )
