"""What versioned rows share: writing only over what was seen, and one writer at a time."""

from typing import Protocol, TypeVar

from django.db.models import QuerySet

from memoryhub.common.errors import Conflict
from spaces.models import JournalEntry, Record, Value

S = TypeVar("S", bound=JournalEntry | Record | Value)


class Versioned(Protocol):
    version: int


def check_version(row: Versioned | None, expected: int | None, noun: str) -> None:
    """Refuse to write over what the writer has not seen. `expected` 0 means that there must be nothing yet."""
    actual = row.version if row else 0
    if expected is None or expected == actual:
        return
    stands = f"is at version {actual}" if row else "does not exist"
    raise Conflict(
        f"expected_version: The {noun} {stands}. Read it again, then repeat your change if it still holds.",
        expected=expected,
        actual=actual,
        current={"version": row.version} if row else None,
    )


def insert_or_lock(
    row: S, same: QuerySet[S], noun: str, *, expected_version: int | None = None
) -> tuple[S, bool]:
    """Insert the row, or lock the one that has its unique key already: (the row stored, whether inserted).

    Of several writers at once, one inserts and the others wait. `same` finds the row with that key. Raises
    Conflict where the stored row isn't at `expected_version`, and for 0 where there is one.
    """
    while True:
        if not expected_version:
            same.bulk_create([row], ignore_conflicts=True)
        stored = same.select_for_update(no_key=True).first()
        if stored is not None and stored.pk == row.pk:
            return stored, True
        check_version(stored, expected_version, noun)
        if stored is not None:  # else it was deleted in between
            return stored, False
