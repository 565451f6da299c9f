"""The safety rules. Each looks at one change and says why it may not be; what all let through is applied.

They hold over rows that are locked, at the moment of applying. A note is for people and never repeats stored text.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple
from uuid import UUID

from memoryhub.common.errors import NotFound
from memoryhub.common.ids import parse_id
from spaces.domain.dreams.grounding import Said, foreign, leaves_out, ungrounded
from spaces.domain.dreams.images import mark_of
from spaces.domain.dreams.screening import unfit
from spaces.domain.dreams.shape import Proposed
from spaces.models import Memory

REMOVED_SHARE = 0.2
PROMOTIONS = 3
MERGED_TEXT = 2_000
GROWTH, GROWTH_ROOM = 1.2, 200


class Skip(NamedTuple):
    """A rule that a change breaks."""

    code: str
    note: str


@dataclass
class Ground:
    """What a run's changes stand on. `input` says how each memory was when the run read it; `rows` are those that
    are there, locked; `heirlooms` the user's own words that a memory took over by a merge."""

    input: Mapping[UUID, tuple[int, str]]
    rows: Mapping[UUID, Memory]
    heirlooms: Mapping[UUID, Sequence[str]]
    max_changes: int
    removed: int = 0
    promoted: int = 0
    touched: set[UUID] = field(default_factory=set)

    def memory(self, id: str) -> Memory | None:
        """The memory, if it is of this run's input and still as it was then."""
        try:
            found = self.rows.get(parse_id("mem", id))
        except NotFound:
            return None
        if found is None or found.id not in self.input or found.id in self.touched:
            return None
        mark = mark_of(found)
        same = self.input[found.id] == (mark["version"], mark["at"])
        return found if same and found.status == "active" else None

    @property
    def removals(self) -> int:
        """How many memories may be dropped or made to expire. Never more than the share, rounded down."""
        return int(len(self.input) * REMOVED_SHARE)


def check(change: Proposed, ground: Ground) -> Skip | list[Memory]:
    """The memories that the change touches or cites, or the first rule that it breaks."""
    if change.number >= ground.max_changes:
        return Skip("over_limit", f"A dream makes at most {ground.max_changes} changes.")
    found = [ground.memory(id) for id in change.ids]
    memories = [memory for memory in found if memory]
    if len(memories) < len(found):
        return Skip("stale", "It names a memory that is not in this run's input, or has changed since.")
    return next(filter(None, (rule(change, memories, ground) for rule in RULES)), memories)


def no_pinned(change: Proposed, memories: Sequence[Memory], ground: Ground) -> Skip | None:
    if change.op != "add" and any(memory.pinned for memory in memories):
        return Skip("pinned", "A pinned memory stays as it is.")
    return None


def no_unspoken(change: Proposed, memories: Sequence[Memory], ground: Ground) -> Skip | None:
    """What the user said stays, word for word: also in a memory that took it over by an earlier merge."""
    if change.op == "add":
        return None
    users = [memory for memory in memories if memory.origin == "user"]
    if users and change.op != "merge" and (change.op != "retier" or shortens(change)):
        return Skip("user_origin", "The user said this: it is not rewritten, dropped or made to expire.")
    kept = [memory.text for memory in users if change.op == "merge"]
    kept += [text for memory in memories for text in ground.heirlooms.get(memory.id, ())]
    if kept and (change.op in ("drop", "expire") or shortens(change)):
        return Skip("user_origin", "It holds what the user said: it is not dropped or made to expire.")
    if change.text is not None and any(text not in change.text for text in kept):
        return Skip("user_origin", "What the user said is not in it word for word.")
    return None


def no_mixing(change: Proposed, memories: Sequence[Memory], ground: Ground) -> Skip | None:
    """A merge keeps what its sources are: it makes no fact of a question, and nothing lasting short-lived."""
    if change.op != "merge":
        return None
    if len({(m.kind, m.path.lower(), str(m.metadata.get("user_id"))) for m in memories}) > 1:
        return Skip("mixed", "Its memories are of different kinds, paths or users.")
    if shortens(change) and any(memory.tier != "scratch" for memory in memories):
        return Skip("mixed", "It would make a lasting memory a scratch one.")
    return None


def no_sprawl(change: Proposed, memories: Sequence[Memory], ground: Ground) -> Skip | None:
    if change.text is None:
        return None
    longest = max(len(memory.text) for memory in memories)
    room = int(longest * GROWTH) + GROWTH_ROOM if change.op != "add" else MERGED_TEXT
    if len(change.text.strip()) > min(MERGED_TEXT, room):
        return Skip("too_long", "Its text is longer than what it is made of allows.")
    return None


def nothing_from_nowhere(change: Proposed, memories: Sequence[Memory], ground: Ground) -> Skip | None:
    sources = [text for memory in memories for text in (memory.text, memory.subject) if text]
    labels = [change.fields.get("subject") or "", *(change.fields.get("tags") or [])]
    known = sources + [tag for memory in memories for tag in memory.tags]
    why = ungrounded(change.text, sources) if change.text is not None else None
    why = why or foreign(Said(tuple(filter(None, labels))), Said(tuple(known)))
    return Skip("from_nowhere", why) if why else None


def nothing_lost(change: Proposed, memories: Sequence[Memory], ground: Ground) -> Skip | None:
    """What is merged or reworded says the same in other words. Something else about the same person is no reason to
    leave a memory out."""
    if change.op == "add" or change.text is None:
        return None
    if any(leaves_out(change.text, memory.text) for memory in memories):
        return Skip("loses", "It leaves out more than half of what one of its memories says.")
    return None


def nothing_unfit(change: Proposed, memories: Sequence[Memory], ground: Ground) -> Skip | None:
    found = unfit(change, memories)
    return Skip(*found) if found else None


def no_excess(change: Proposed, memories: Sequence[Memory], ground: Ground) -> Skip | None:
    if removes(change) and ground.removed >= ground.removals:
        return Skip("over_limit", "A dream drops or lets expire at most a fifth of what it read.")
    if promotes(change, memories) and ground.promoted >= PROMOTIONS:
        return Skip("over_limit", f"A dream moves at most {PROMOTIONS} memories to the core.")
    return None


def shortens(change: Proposed) -> bool:
    """Whether it makes something end by itself."""
    return change.fields.get("tier") == "scratch" and change.op in ("retier", "merge")


def removes(change: Proposed) -> bool:
    return change.op in ("drop", "expire") or (change.op == "retier" and shortens(change))


def promotes(change: Proposed, memories: Sequence[Memory]) -> bool:
    return change.fields.get("tier") == "core" and all(memory.tier != "core" for memory in memories)


Rule = Callable[[Proposed, Sequence[Memory], Ground], Skip | None]
RULES: tuple[Rule, ...] = (
    no_pinned,
    no_unspoken,
    no_mixing,
    no_sprawl,
    nothing_unfit,
    nothing_from_nowhere,
    nothing_lost,
    no_excess,
)
