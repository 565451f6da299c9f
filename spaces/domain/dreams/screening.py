"""What no text of a model may bring in: secrets, and words that speak to whoever reads them."""

from collections.abc import Sequence
from typing import Any

from memoryhub.common.screening import reasons_to_hold
from memoryhub.common.secrets import cut, cut_text, marked
from spaces.domain.dreams.shape import Proposed
from spaces.models import Memory

HOLDING = "It holds a secret, or a mark of one that its sources don't have."
SPEAKING = "It speaks to whoever reads it instead of telling something."


def unfit(change: Proposed, memories: Sequence[Memory]) -> tuple[str, str] | None:
    """Why its texts may not be stored. What was cut before it came here has left its mark."""
    if cut(change.fields).categories or _marks(change.fields) - _marks(_told(memories)):
        return "secret", HOLDING
    return ("instructions", SPEAKING) if reasons_to_hold(change.fields) else None


def clean_notes(text: str) -> str:
    return cut_text(text)[0]


def clean_told(change: Proposed) -> dict[str, Any]:
    """What is kept of it for people to read, also where it is skipped."""
    told: dict[str, Any] = cut(change.told).value
    return told


def _told(memories: Sequence[Memory]) -> list[Any]:
    return [[memory.text, memory.subject, memory.tags] for memory in memories]


def _marks(value: object) -> set[str]:
    return {found["category"] for found in marked(value)}
