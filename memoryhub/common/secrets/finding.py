"""Every secret in a text, in whichever spelling."""

from collections.abc import Callable, Iterator
from itertools import accumulate

from memoryhub.common.secrets.armour import find_keys
from memoryhub.common.secrets.assignments import find_assignments
from memoryhub.common.secrets.prose import find_told
from memoryhub.common.secrets.rules import worth_trying
from memoryhub.common.secrets.spans import Span, merged
from memoryhub.common.secrets.views import blobs, views

__all__ = ["Span", "find"]

SHORTEST = 8
STEP = 1024
CONTINUED = bytes(range(0x80, 0xC0))
"""Bytes that begin no character."""


def find(text: str) -> list[Span]:
    """Where the secrets of a text stand: in order, apart from each other."""
    if len(text) < SHORTEST:
        return []
    if not text.isascii():
        text = text.encode("utf-8", "replace").decode()  # half a surrogate pair is one `?`
    spans = list(_plainly(text))
    for view in views(text):
        for span in _plainly(view.text):
            spans.append(Span(*view.origin(span.start, span.end), span.category))
    for start, end, said in blobs(text):
        inside = list(_plainly(said))
        if inside:
            spans.append(Span(start, end, max(inside, key=_weight).category))
    return merged(spans)


def _plainly(text: str) -> Iterator[Span]:
    raw = text.encode()
    at = _places(text, raw)
    for rule in worth_trying(raw):
        yield from rule.find(text, raw, at)
    yield from find_keys(text)
    yield from find_assignments(text, raw, at)
    yield from find_told(text, raw, at)


def _places(text: str, raw: bytes) -> Callable[[int], int]:
    if len(raw) == len(text):
        return int
    begun = [len(raw[at : at + STEP].translate(None, CONTINUED)) for at in range(0, len(raw), STEP)]
    before = [0, *accumulate(begun)]

    def at(place: int) -> int:
        step = place // STEP
        return before[step] + len(raw[step * STEP : place].translate(None, CONTINUED))

    return at


def _weight(span: Span) -> tuple[bool, int]:
    return span.category == "private_key", span.end - span.start
