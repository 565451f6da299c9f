"""How many memories of an account have a lexeme: exact, read off the index, remembered while it is common."""

from time import monotonic
from uuid import UUID

from django.db import connection

from spaces.domain.search.lexemes import dimension, to_tsquery_literal

# Counting costs about a microsecond a memory, and a large count moves slowly: one of so many or more is kept
# in the process, the longer the larger it is, for so many seconds at most; what an account grows by meanwhile is
# a small part of it. By dimension: no word of a memory is kept outside the database.
COMMON = 100
KEPT_FOR = 300
COUNTED_A_SECOND = 100
MOST_KEPT = 100_000

EVERYTHING = ""  # asks for no lexeme in particular: the number of all the account's memories

_kept: dict[tuple[UUID, int], tuple[int, float]] = {}


def count_memories(account_id: UUID, lexemes: list[str]) -> tuple[dict[str, int], int]:
    """The counts of those lexemes that any memory of the account in force has, and of all its memories."""
    asked = [*lexemes, EVERYTHING]
    counts = _recalled(account_id, asked)
    missing = [lexeme for lexeme in asked if lexeme not in counts]
    if missing:
        fresh = dict(zip(missing, _count(missing), strict=True))
        _keep(account_id, fresh)
        counts |= fresh
    return {lexeme: counts[lexeme] for lexeme in lexemes if counts[lexeme]}, counts[EVERYTHING]


def forget_counts() -> None:
    """As if the process had just started."""
    _kept.clear()


def _count(lexemes: list[str]) -> list[int]:
    queries = [to_tsquery_literal([lexeme] if lexeme else []) for lexeme in lexemes]
    with connection.cursor() as cursor:
        cursor.execute("select hub_count_memories(%s::text[]::tsquery[])", [queries])
        counts: list[int] = cursor.fetchone()[0]
    return counts


def _recalled(account_id: UUID, lexemes: list[str]) -> dict[str, int]:
    now = monotonic()
    found = ((lexeme, _kept.get((account_id, dimension(lexeme)))) for lexeme in lexemes)
    return {lexeme: entry[0] for lexeme, entry in found if entry and entry[1] > now}


def _keep(account_id: UUID, counts: dict[str, int]) -> None:
    if len(_kept) > MOST_KEPT:
        _kept.clear()
    now = monotonic()
    _kept.update(
        {
            (account_id, dimension(lexeme)): (count, now + min(KEPT_FOR, count / COUNTED_A_SECOND))
            for lexeme, count in counts.items()
            if count >= COMMON
        }
    )
