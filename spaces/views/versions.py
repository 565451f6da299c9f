"""The versions of a row, newest first, each with what it changed."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from accounts.domain.names import names_of


@dataclass(frozen=True)
class Written:
    """A state that a row had, or has: its fields as plain JSON."""

    version: int
    data: Any
    written_by: str
    at: datetime


@dataclass(frozen=True)
class ShownVersion:
    """`before` is the text of the version before it; "" for the first, and for the oldest one listed."""

    number: int
    by: str
    at: datetime
    text: str
    before: str
    is_current: bool
    is_oldest: bool


def shown_versions(
    account_id: UUID, current: Written, earlier: Sequence[Any], text_of: Callable[[Any], str]
) -> list[ShownVersion]:
    """`earlier` are version rows, newest first."""
    states = [current, *(Written(row.version, row.data, row.written_by, row.written_at) for row in earlier)]
    names = names_of(account_id, (state.written_by for state in states))
    texts = [text_of(state.data) for state in states]
    return [
        ShownVersion(
            number=state.version,
            by=names[state.written_by],
            at=state.at,
            text=text,
            before=before,
            is_current=state is current,
            is_oldest=state is states[-1],
        )
        for state, text, before in zip(states, texts, [*texts[1:], ""], strict=True)
    ]
