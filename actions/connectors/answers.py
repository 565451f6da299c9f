"""What came of a call to a vendor."""

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Answer:
    """A success. `headers` have lower-case names."""

    status: int
    body: dict[str, Any]
    headers: dict[str, str]


class Trouble(Exception):
    """`reason` is a short word or code for people and logs; never text of the vendor's or of the payload."""

    def __init__(self, reason: str, *, status: int = 0) -> None:
        super().__init__(reason)
        self.reason = reason
        self.status = status


class NotSent(Trouble):
    """The vendor certainly did nothing, and may be asked again, after so many seconds if it said so."""

    def __init__(self, reason: str, *, status: int = 0, retry_after: float | None = None) -> None:
        super().__init__(reason, status=status)
        self.retry_after = retry_after


class SignedOut(NotSent):
    """The vendor no longer takes the token: it did nothing, and asking again is of no use as it is."""


class Refused(Trouble):
    """The vendor understood, and said no for good."""


class Unclear(Trouble):
    """It may have been carried out, or not."""
