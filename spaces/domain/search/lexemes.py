"""Lexemes in the forms PostgreSQL reads: text of a tsvector, of a tsquery, of a sparse vector's dimension."""

from collections.abc import Collection, Iterable
from uuid import UUID
from zlib import crc32

# A tsvector holds at most 1 MiB, a sparse vector 16,000 numbers. What lies beyond in a huge text isn't found.
MOST_LEXEMES = 12_000
MOST_BYTES = 1 << 19

DIMENSIONS = 1 << 29
WHOLE_ACCOUNT = UUID(int=0)


def tenant_lexeme(account_id: UUID) -> str:
    """Every vector of an account holds it, so that the index meets no other account's rows.

    No text has it: a tokenized lexeme never begins with an at sign.
    """
    return f"@{account_id.hex}"


def space_lexeme(space_id: UUID | None) -> str:
    """Every vector holds its space too; None: it is the account's as a whole."""
    return f"@{(space_id or WHOLE_ACCOUNT).hex}"


def capped(lexemes: Iterable[str]) -> list[str]:
    """The different lexemes, in order, as far as they fit."""
    kept: dict[str, None] = {}
    size = 0
    for lexeme in lexemes:
        if lexeme in kept:
            continue
        size += len(lexeme.encode()) + 8
        if size > MOST_BYTES or len(kept) == MOST_LEXEMES:
            break
        kept[lexeme] = None
    return list(kept)


def to_tsvector_literal(lexemes: Iterable[str], extra: Iterable[str] = ()) -> str:
    """The text of a tsvector of these lexemes, without positions. `extra` are always kept."""
    return " ".join(map(_quoted, dict.fromkeys([*extra, *capped(lexemes)])))


def to_tsquery_literal(lexemes: Iterable[str], *, every: bool = False) -> str:
    """The text of a tsquery that any one lexeme answers, or only `every` one together."""
    return (" & " if every else " | ").join(map(_quoted, lexemes))


def inside(tsquery: str, spaces: Collection[UUID] | None) -> str:
    """The same, asked of these spaces and of what the account as a whole holds; None: of all there is."""
    if spaces is None:
        return tsquery
    places = to_tsquery_literal(map(space_lexeme, [WHOLE_ACCOUNT, *sorted(spaces)]))
    return f"({places}) & ({tsquery})" if tsquery else places


def lexemes_of(vector: str) -> frozenset[str]:
    """Those of a tsvector's text. No lexeme of ours has a quote, a backslash or a space in it."""
    return frozenset(vector[1:-1].split("' '"))


def dimension(lexeme: str) -> int:
    """The lexeme's place in a sparse vector. Two rarely share one; then they are counted as the same word."""
    return crc32(lexeme.encode()) % DIMENSIONS


def _quoted(lexeme: str) -> str:
    return "'" + lexeme.replace("\\", "\\\\").replace("'", "''") + "'"
