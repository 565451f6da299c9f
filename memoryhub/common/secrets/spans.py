"""Where in a text a secret stands."""

from collections.abc import Iterable
from typing import NamedTuple


class Span(NamedTuple):
    start: int
    end: int
    category: str


def merged(spans: Iterable[Span]) -> list[Span]:
    """In order and apart. Of those that overlap, the longest names the whole; a private key always does."""
    kept: list[Span] = []
    for span in sorted(spans):
        if kept and span.start < kept[-1].end:
            kept[-1] = _joined(kept[-1], span)
        else:
            kept.append(span)
    return kept


def _joined(one: Span, other: Span) -> Span:
    ranked = max(one, other, key=lambda span: (span.category == "private_key", span.end - span.start))
    return Span(one.start, max(one.end, other.end), ranked.category)
