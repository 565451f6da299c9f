"""Keys in armour: from BEGIN to END, or, where the END was lost, as far as what follows is still a key."""

import re
from collections.abc import Iterator
from itertools import zip_longest
from typing import Any

import re2

from memoryhub.common.secrets.spans import Span

CATEGORY = "private_key"
BEGIN = re2.compile(
    r"-{4,5} ?BEGIN (?:[A-Z0-9][A-Za-z0-9 ]{0,40} )?(?:PRIVATE KEY(?: BLOCK)?|Static key V1) ?-{4,5}"
)
END = re2.compile(
    r"-{4,5} ?END (?:[A-Z0-9][A-Za-z0-9 ]{0,40} )?(?:PRIVATE KEY(?: BLOCK)?|Static key V1) ?-{4,5}"
)
# What stands between: lines of base64 in whatever a text puts around lines, and the headers of old forms.
INSIDE = re.compile(
    r"(?:(?:Proc-Type|DEK-Info|Version|Comment|Hash|Charset|MessageID|Subject|x-[\w-]+): ?[^\n\\]{0,200}"
    r"|[A-Za-z0-9+/=_-]{2,}|\\[nrt]|[\s\"'>#*|,+;:\\])*"
)
BODY = re.compile(r"[A-Za-z0-9+/]{16,}")
TAIL = re2.compile(r"(?:[A-Za-z0-9+/=]{16,}|\\[nrt]|[\s\"'>#|,+\\])*[A-Za-z0-9+/=]+[\s\"'>#|,+\\nr]*$")
LEAST = 40
FARTHEST = 64 * 1024


def find_keys(text: str) -> Iterator[Span]:
    if "PRIVATE KEY" not in text and "Static key" not in text:
        return
    done = 0
    begins = list(BEGIN.finditer(text))
    for begin, following in zip_longest(begins, begins[1:]):
        if begin.start() >= done and (length := _length(text, begin.end(), following)):
            done = begin.end() + length
            yield Span(begin.start(), done, CATEGORY)
    yield from _without_begin(text, done)


def _length(text: str, start: int, following: Any) -> int:
    """How much after a BEGIN belongs to its key: at most as far as the `following` one. 0: there is no key."""
    limit = min(start + FARTHEST, following.start() if following else len(text))
    end = END.search(text[start:limit])
    if end and _has_body(text[start : start + end.start()]):
        return int(end.end())
    inside = INSIDE.match(text, start, limit)
    return len(inside[0].rstrip()) if inside and _has_body(inside[0]) else 0


def _without_begin(text: str, start: int) -> Iterator[Span]:
    """The end of one whose beginning was cut off."""
    end = END.search(text[start:])
    if end:
        before = TAIL.search(text[max(0, start + end.start() - 8192) : start + end.start()])
        if before and _has_body(before[0]):
            first = start + end.start() - len(before[0].lstrip())
            yield Span(first, start + end.end(), CATEGORY)


def _has_body(between: str) -> bool:
    """A text about keys names the lines around them, with little or nothing between."""
    return sum(len(part) for part in BODY.findall(between)) >= LEAST
