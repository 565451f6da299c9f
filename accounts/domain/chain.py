"""The chain of events, looked through from its beginning, and held against what was signed of it before."""

from collections import defaultdict
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from uuid import UUID

from accounts.domain.events import chain_hash
from accounts.models import Event
from memoryhub.common.canonical import canonical_json
from memoryhub.common.signing import is_signed, key_id

BATCH = 1000


@dataclass(frozen=True)
class Mark:
    """That the chain of an account ended with this number and hash at a time, with a signature."""

    account_id: UUID
    seq: int
    hash: bytes
    at: str
    key_id: str = ""
    signature: bytes = b""

    @property
    def message(self) -> bytes:
        return canonical_json(
            {"account": str(self.account_id), "seq": self.seq, "hash": self.hash.hex(), "at": self.at}
        )


@dataclass(frozen=True)
class Fault:
    """What doesn't fit, somewhere from the event number `first` to `last`."""

    first: int
    last: int
    what: str


@dataclass(frozen=True)
class Verdict:
    """The chain is whole up to `seq`, and agrees with so many signed `marks`."""

    seq: int
    hash: bytes
    marks: int
    unsealed: int
    fault: Fault | None = None


def look_through(account_id: UUID, marks: Sequence[Mark] = (), keys: Collection[str] = ()) -> Verdict:
    """Every sealed event of the account in force. `keys` are the public ones that marks may be signed with."""
    events = Event.objects.filter(account_id=account_id)
    walk = _Walk(marks, {key_id(key): key for key in keys})
    fault = walk.forged() or walk.through(_sealed(account_id)) or walk.missing()
    return Verdict(walk.seq, walk.hash, walk.agreed, events.filter(seq=None).count(), fault)


def _sealed(account_id: UUID) -> Iterator[Event]:
    sealed = Event.objects.filter(account_id=account_id).sealed().order_by("seq")
    last = 0
    while batch := list(sealed.filter(seq__gt=last)[:BATCH]):
        yield from batch
        last = batch[-1].seq or 0
        yield from sealed.filter(seq=last).exclude(id=batch[-1].id)  # which would hide where a batch ends
    # Numbers begin with 1: what stands before was put there by hand.
    yield from sealed.filter(seq__lt=1)[:1]


class _Walk:
    def __init__(self, marks: Sequence[Mark], keys: dict[str, str]) -> None:
        self.keys = keys
        self.seq, self.hash, self.agreed, self.sure = 0, b"", 0, 0
        self.marks: dict[int, list[Mark]] = defaultdict(list)
        for mark in marks:
            self.marks[mark.seq].append(mark)

    def forged(self) -> Fault | None:
        for seq, marks in sorted(self.marks.items()):
            for mark in marks:
                key = self.keys.get(mark.key_id)
                if key is None or not is_signed(mark.message, mark.signature, key):
                    return Fault(seq, seq, f"The checkpoint of {mark.at} is not signed by a key known here.")
        return None

    def through(self, events: Iterator[Event]) -> Fault | None:
        for event in events:
            fault = self.step(event)
            if fault:
                return fault
        return None

    def step(self, event: Event) -> Fault | None:
        number = self.seq + 1
        if 0 < (event.seq or 0) < number:
            return Fault(event.seq or 0, event.seq or 0, f"There are two events {event.seq}.")
        if event.seq != number:
            return Fault(number, number, f"Event {number} is missing.")
        if bytes(event.previous_hash or b"") != self.hash:
            return Fault(number, number, f"Event {number} does not follow from the one before it.")
        if bytes(event.hash or b"") != chain_hash(self.hash, event):
            return Fault(number, number, f"Event {number} is not what was sealed.")
        self.seq, self.hash = number, bytes(event.hash or b"")
        return self.held_against(self.marks.get(number, ()))

    def held_against(self, marks: Sequence[Mark]) -> Fault | None:
        for mark in marks:
            if mark.hash != self.hash:
                told = f"Up to event {mark.seq}, the chain is another than the one signed at {mark.at}."
                return Fault(self.sure + 1, mark.seq, told)
            self.agreed, self.sure = self.agreed + 1, mark.seq
        return None

    def missing(self) -> Fault | None:
        beyond = [mark for seq, marks in self.marks.items() if seq > self.seq for mark in marks]
        if not beyond:
            return None
        last = max(beyond, key=lambda mark: mark.seq)
        told = f"The events {self.seq + 1} to {last.seq} are gone; they were signed by {last.at}."
        return Fault(self.seq + 1, last.seq, told)
