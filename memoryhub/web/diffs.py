"""Differences between two texts, word by word."""

import re
from collections import Counter
from collections.abc import Iterator
from difflib import SequenceMatcher
from itertools import pairwise
from typing import Literal, NamedTuple

_WORDS = re.compile(r"\n|[^\S\n]+|\w+|[^\w\s]")
_MOST_WORDS = 4_000
_MOST_COMMON = 20
"""What a text has more often than this is no place to begin from, only to go on to."""

Kind = Literal["same", "gone", "new"]


class Change(NamedTuple):
    kind: Kind
    text: str


def word_changes(before: str, after: str) -> list[Change]:
    """What was taken out and put in, in reading order. Very long texts are compared by line."""
    return _join(_tidy(_compare(*_split(before, after))))


def _split(before: str, after: str) -> tuple[list[str], list[str]]:
    words = _WORDS.findall(before), _WORDS.findall(after)
    if max(map(len, words)) <= _MOST_WORDS:
        return words
    return before.splitlines(keepends=True), after.splitlines(keepends=True)


def _compare(before: list[str], after: list[str]) -> Iterator[Change]:
    """Whatever the texts are, it takes moments: what begins and ends them alike is not looked at again."""
    start = _alike(before, after)
    end = _alike(before[start:][::-1], after[start:][::-1])
    yield from _same(before[:start])
    yield from _between(before[start : len(before) - end], after[start : len(after) - end])
    yield from _same(before[len(before) - end :])


def _alike(one: list[str], other: list[str]) -> int:
    """How many are the same from the start."""
    pairs = enumerate(zip(one, other, strict=False))
    return next((n for n, (a, b) in pairs if a != b), min(len(one), len(other)))


def _same(words: list[str]) -> Iterator[Change]:
    if words:
        yield Change("same", "".join(words))


def _opcodes(before: list[str], after: list[str]) -> list[tuple[str, int, int, int, int]]:
    if max(len(before), len(after)) > _MOST_WORDS:
        return [("replace", 0, len(before), 0, len(after))]
    counts = Counter(after)
    common = {word for word, count in counts.items() if count > _MOST_COMMON}
    return list(SequenceMatcher(common.__contains__, before, after, autojunk=False).get_opcodes())


def _between(before: list[str], after: list[str]) -> Iterator[Change]:
    for tag, i1, i2, j1, j2 in _opcodes(before, after):
        if tag == "equal":
            yield Change("same", "".join(before[i1:i2]))
            continue
        if i2 > i1:
            yield Change("gone", "".join(before[i1:i2]))
        if j2 > j1:
            yield Change("new", "".join(after[j1:j2]))


def _tidy(changes: Iterator[Change]) -> Iterator[Change]:
    """A lone space kept between two changed stretches makes confetti: count it as changed on both sides."""
    found = list(changes)
    edges = [None, *found, None]
    for index, (left, change) in enumerate(pairwise(edges), start=0):
        if change is None:
            return
        right = edges[index + 2] if index + 2 < len(edges) else None
        if _is_gap(change) and left and right and left.kind != "same" and right.kind != "same":
            yield Change("gone", change.text)
            yield Change("new", change.text)
        else:
            yield change


def _is_gap(change: Change) -> bool:
    return change.kind == "same" and change.text.isspace() and "\n" not in change.text


def _join(changes: Iterator[Change]) -> list[Change]:
    """Between two unchanged stretches there is at most one removal, then one addition."""
    joined: list[Change] = []
    gone = new = ""
    for change in changes:
        if change.kind == "gone":
            gone += change.text
        elif change.kind == "new":
            new += change.text
        else:
            joined += _pending(gone, new)
            gone = new = ""
            joined.append(change)
    return joined + _pending(gone, new)


def _pending(gone: str, new: str) -> list[Change]:
    return [change for change in (Change("gone", gone), Change("new", new)) if change.text]
