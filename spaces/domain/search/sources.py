"""How much of the top one source may take, so that nobody crowds out what others have said by saying much.

A source is whoever wrote a memory, by the credential. What a person wrote or has looked at belongs to no crowd.
"""

from collections import Counter
from collections.abc import Sequence
from math import ceil
from time import monotonic
from typing import Protocol, TypeVar
from uuid import UUID

from django.db import connection

TOP = 10
"""Places that are looked at, or as many as are wanted. Of these one source has half, if others have something."""
COMPARABLE = 0.5
"""What comes before a better memory has at least this share of its score: what has little to do with the question
is no reason to put an answer back."""
BELIEVED = ("person", "reviewed")

KEPT_FOR = 300
MOST_KEPT = 10_000
OTHERS = "select exists (select 1 from spaces_memory where account_id = %s and written_by <> %s)"

_known: dict[tuple[UUID, str], tuple[bool, float]] = {}


class Scored(Protocol):
    @property
    def source(self) -> str: ...

    @property
    def score(self) -> float: ...


S = TypeVar("S", bound=Scored)


def source_of(written_by: str, trust: str) -> str:
    """ "" for what belongs to no crowd."""
    return "" if trust in BELIEVED else written_by


def spread(ordered: Sequence[S], limit: int) -> list[S]:
    """As ordered, but that in the top a source which has its half makes way for what is comparable."""
    top, rest = min(limit, TOP), list(ordered)
    taken: Counter[str] = Counter()
    first: list[S] = []
    while rest and len(first) < top:
        full = {source for source, places in taken.items() if source and places >= ceil(top / 2)}
        chosen = _next(rest, full)
        rest.remove(chosen)
        taken[chosen.source] += 1
        first.append(chosen)
    return [*first, *rest][:limit]


def _next(rest: Sequence[S], full: set[str]) -> S:
    best = rest[0]
    if best.source not in full:
        return best
    bar = COMPARABLE * best.score
    return next((one for one in rest if one.source not in full and one.score >= bar), best)


def crowd(found: Sequence[Scored], pool: int) -> str:
    """The source that has brought everything that was looked at, so that others may not have come into sight."""
    sources = {one.source for one in found}
    return sources.pop() if len(found) >= pool and len(sources) == 1 else ""


def others_write(account_id: UUID, source: str) -> bool:
    """Whether anybody else has written anything there: as it was up to KEPT_FOR seconds ago."""
    key = (account_id, source)
    known, until = _known.get(key, (False, 0.0))
    if until < monotonic():
        if len(_known) > MOST_KEPT:
            _known.clear()
        with connection.cursor() as cursor:
            cursor.execute(OTHERS, [account_id, source])
            known = bool(cursor.fetchone()[0])
        _known[key] = known, monotonic() + KEPT_FOR
    return known


def forget_others() -> None:
    """As if the process had just started."""
    _known.clear()
