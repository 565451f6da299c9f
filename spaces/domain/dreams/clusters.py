"""Near-identical memories, found by their words alone. Pure: memories in, groups out, the same every time.

Two are near-identical if nine tenths of their different words are the same, and everything that tells facts apart is
equal: numbers, days, names, and whether they say no. So a merge into one of them loses none of that.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import ceil
from uuid import UUID

from spaces.domain.dreams.grounding import Said
from spaces.domain.search.normalise import clean, fold

ALIKE = 0.9
MOST = 8
FEWEST_WORDS = 3

_UNIT = re.compile(r"\w+")
_MARK = re.compile(r"[^\w\s.,;:!?'\"()\-–—、。，．！？；：「」『』（）…]")
Telling = tuple[object, ...]


@dataclass(frozen=True)
class Statement:
    """What is compared of a memory. Only those with the same `place` (kind, subject, path, user) can be merged."""

    id: UUID
    text: str
    place: tuple[str, ...]
    said_by_user: bool = False

    @cached_property
    def words(self) -> frozenset[str]:
        """Of scripts without spaces, pairs of characters: a single changed one is seen."""
        found: set[str] = set()
        for unit in _UNIT.findall(fold(clean(self.text))):
            found |= {unit} if unit.isascii() else {unit, *(unit[i : i + 2] for i in range(len(unit) - 1))}
        return frozenset(found)

    @cached_property
    def telling(self) -> Telling:
        """What has to be equal to the last of it."""
        said = Said((self.text,))
        names = frozenset(token.folded for token in said.tokens if token.looks_named and not token.opens)
        opening = frozenset(token.folded for token in said.tokens if token.opens)
        marks = frozenset(_MARK.findall(self.text))
        return said.numbers, said.days, said.denies, names, opening, marks


@dataclass(frozen=True)
class Cluster:
    """`keep` says what all of them say. Its text goes into the merge as it is."""

    keep: Statement
    others: tuple[Statement, ...]

    @property
    def members(self) -> tuple[Statement, ...]:
        return (self.keep, *self.others)


def find_clusters(statements: Sequence[Statement]) -> list[Cluster]:
    """Each statement is in one group at most; each group's members are all near-identical to the one that is kept."""
    ordered = sorted(statements, key=lambda s: (not s.said_by_user, -len(s.text), s.id))
    near = _near(ordered)
    taken: set[UUID] = set()
    clusters = []
    for keep in ordered:
        if keep.id in taken:
            continue
        free = [other for other in near.get(keep.id, ()) if other.id not in taken and not other.said_by_user]
        if others := tuple(free[: MOST - 1]):
            taken |= {keep.id, *(other.id for other in others)}
            clusters.append(Cluster(keep, others))
    return clusters


def _near(statements: Sequence[Statement]) -> Mapping[UUID, list[Statement]]:
    """Those that come after it, by the order given."""
    found: dict[UUID, list[Statement]] = defaultdict(list)
    groups: dict[Telling, list[Statement]] = defaultdict(list)
    for statement in statements:
        if len(statement.words) >= FEWEST_WORDS:
            groups[statement.place, statement.telling].append(statement)
    for group in groups.values():
        for first, second in _pairs(group) if len(group) > 1 else ():
            if _alike(first, second):
                found[first.id].append(second)
    return found


def _pairs(statements: Sequence[Statement]) -> Iterator[tuple[Statement, Statement]]:
    """Candidates: two sets that are this alike share one of their rarest words, so only those are looked up."""
    counts = Counter(word for statement in statements for word in statement.words)
    holders: dict[str, list[Statement]] = defaultdict(list)
    for statement in statements:
        seen: dict[UUID, Statement] = {}
        for word in _rarest(statement.words, counts):
            seen |= {other.id: other for other in holders[word]}
            holders[word].append(statement)
        for other in seen.values():
            yield other, statement


def _rarest(words: frozenset[str], counts: Mapping[str, int]) -> list[str]:
    ordered = sorted(words, key=lambda word: (counts[word], word))
    return ordered[: len(words) - ceil(ALIKE * len(words)) + 1]


def _alike(first: Statement, second: Statement) -> bool:
    shared = len(first.words & second.words)
    return shared >= ALIKE * (len(first.words) + len(second.words) - shared)
