"""How memories arrive from a file: what each field has to be, and what follows from their being here."""

from collections.abc import Iterable, Sequence
from functools import partial
from typing import Any
from uuid import UUID

from django.db.models.functions import Coalesce

from accounts.domain.jobs import enqueue
from memoryhub.common.errors import ValidationFailed
from spaces.domain.arriving import BATCH, TRUST, Fields, redactions, written_by
from spaces.domain.embeddings.pending import embed_later
from spaces.domain.kinds import Arrival
from spaces.domain.memories.changing import assign
from spaces.domain.memories.core import check_core_room, lock_core
from spaces.domain.memories.expiry import EXPIRE, discard_expired
from spaces.domain.memories.fields import CLEANERS, LABELS, Place, cleaned, union
from spaces.domain.memories.holding import HELD, reasons_of
from spaces.domain.memories.identity import identity_of
from spaces.domain.memories.remembering import UNION
from spaces.domain.search.indexing import index_fields
from spaces.models import Memory
from spaces.models.memories import STATUSES

POINTERS = ("superseded_by", "resolved_by")
STATED = (
    "text",
    "kind",
    "subject",
    "tier",
    "path",
    "topics",
    "tags",
    "links",
    "metadata",
    "pinned",
    "origin",
)
TEXTS = ("text", "kind", "subject", "tier", "path", "source_ref", "origin", "decided_by")
REASON = 20
POINTING = "pointing_at"
"""What an arriving memory points at, by the file's ids, until it can."""
LOOSE_ENDS = "links to memories that are not in the file"


def read(arrival: Arrival, row: Fields) -> Memory:
    place = Place(arrival.account_id, arrival.space, arrival.now)
    status = row.one_of("status", STATUSES)
    memory = Memory(
        space=arrival.space,
        **cleaned(_given(row), place),
        **{name: _many(row, name, place) for name in ("tags", "topics", "links")},
        trust=TRUST,
        **{name: _label(row, name, place) for name in ("agent", "session")},
        agent_instance=_label(row, "agent_instance", place, as_if="agent"),
        device_label=_label(row, "device_label", place, as_if="decided_by"),
        session_scoped=row.flag("session_scoped"),
        status=status,
        held_for=[reason[:REASON] for reason in row.texts("held_for")[:LABELS]],
        occurred_at=row.moment("occurred_at", row.moment("created_at", arrival.now)),
        expires_at=row.moment_or_none("expires_at"),
        recall_count=row.whole("recall_count", 0),
        last_recalled_at=row.moment_or_none("last_recalled_at"),
        seen_count=row.whole("seen_count", 1),
        last_seen_at=row.moment("last_seen_at", arrival.now),
        version=row.whole("version", 1, least=1),
        written_by=written_by(row),
        redactions=redactions(row),
        created_at=row.moment("created_at", arrival.now),
        updated_at=row.moment("updated_at", arrival.now),
    )
    memory.identity = identity_of(memory)
    _hold(memory, row.row.get("versions"))
    memory.__dict__[POINTING] = {name: id for name in POINTERS if (id := _pointer(row, name, status))}
    return memory


def _hold(memory: Memory, versions: object) -> None:
    """What speaks to agents waits for a person, as it would if an agent had written it; replaced or not, since what
    was replaced is read too."""
    if memory.status != HELD and (reasons := reasons_of(memory, earlier=versions)):
        memory.status, memory.held_for = HELD, reasons


def place(memory: Memory) -> bytes | None:
    """Only of active ones there is one for each statement."""
    return bytes(memory.identity) if memory.status == "active" else None


def standing(arrival: Arrival, memories: Sequence[Memory]) -> Iterable[Memory]:
    """Identical ones that are here. An expired one makes way, as it does for whoever says it again."""
    active = [memory for memory in memories if memory.status == "active"]
    for twin in Memory.objects.identical_to(*active) if active else ():
        if twin.expired(arrival.now):
            discard_expired(arrival.actor, twin)
        else:
            yield twin


def placing(arrival: Arrival, memories: Sequence[Memory]) -> None:
    """They are found as soon as they are here."""
    if any(memory.tier == "core" for memory in memories):
        lock_core(arrival.account_id, arrival.space.id if arrival.space else None)
    for memory in memories:
        assign(memory, index_fields(memory, arrival.space))


def placed(arrival: Arrival, memories: Sequence[Memory]) -> None:
    """They get their vectors, expire, and point at each other once all are here."""
    embed_later(memories)
    for memory in memories:
        if memory.expires_at and not memory.pinned:
            enqueue(EXPIRE, memory.account_id, memory.id, run_after=memory.expires_at)
    core = [memory for memory in memories if memory.tier == "core" and memory.status == "active"]
    if core:
        arrival.later.append(partial(check_core_room, core[0]))
    pointing = {memory.id: found for memory in memories if (found := memory.__dict__.pop(POINTING, None))}
    if pointing and POINTING not in arrival.gathered:
        arrival.later.append(partial(_connect, arrival))
    arrival.gathered.setdefault(POINTING, {}).update(pointing)


def _connect(arrival: Arrival) -> None:
    """A pointer at what is neither in the file nor here points at nothing, which is noted."""
    pointing = arrival.gathered[POINTING]
    named = {id for pointers in pointing.values() for id in pointers.values()}
    places = {id: (arrival.id(id), id) for id in named}
    here = Memory.objects.filter(account_id=arrival.account_id, space=arrival.space)
    there = set(
        here.filter(id__in=[id for pair in places.values() for id in pair]).values_list("id", flat=True)
    )
    changed: list[Memory] = []
    for id, pointers in pointing.items():
        found = {n: next((i for i in places[to] if i in there), None) for n, to in pointers.items()}
        arrival.notes[LOOSE_ENDS] += sum(target is None for target in found.values())
        changed.append(Memory(id=id, **{f"{n}_id": found.get(n) for n in POINTERS}))
    Memory.objects.bulk_update(changed, [f"{n}_id" for n in POINTERS], batch_size=BATCH)
    _check_no_circle({memory.id: memory.superseded_by_id or memory.resolved_by_id for memory in changed})


def _check_no_circle(leads: dict[UUID, UUID | None]) -> None:
    """Whatever follows the pointers comes to an end."""
    pointer = Coalesce("superseded_by_id", "resolved_by_id")
    while further := {id for id in leads.values() if id} - leads.keys():
        leads |= dict(Memory.objects.filter(id__in=further).values_list("id", pointer))
    for start in leads:
        at, seen = start, set[UUID]()
        while (to := leads.get(at)) is not None:
            if to in seen or to == start:
                raise ValidationFailed(
                    {"superseded_by": ["Memories must not supersede each other in a circle."]}
                )
            seen.add(at)
            leads[at], at = None, to


def _given(row: Fields) -> dict[str, Any]:
    given: dict[str, Any] = {name: row.text(name) for name in TEXTS if row.row.get(name) is not None}
    if "text" not in given:
        raise row.refused("text", "Is missing.")
    return {
        **given,
        "metadata": row.mapping("metadata"),
        "importance": row.number("importance", 0.5),
        "pinned": row.flag("pinned"),
    }


def _many(row: Fields, name: str, place: Place) -> list[Any]:
    """As many as have come together, a few at a time as they came."""
    items = row.items(name)
    kind = dict if name == "links" else str
    if len(items) > UNION or not all(isinstance(item, kind) for item in items):
        raise row.refused(
            name, f"Must be a list of at most {UNION} {'objects' if kind is dict else 'texts'}."
        )
    parts = (CLEANERS[name](name, items[at : at + LABELS], place) for at in range(0, len(items), LABELS))
    return union(*parts)


def _label(row: Fields, name: str, place: Place, *, as_if: str = "") -> str:
    label: str = CLEANERS[as_if or name](name, row.text(name, ""), place)
    return label


def _pointer(row: Fields, name: str, status: str) -> UUID | None:
    id = row.id(name, "mem") if row.row.get(name) is not None else None
    if id and status == "active":
        raise row.refused(name, "Must be null where the memory is active.")
    return id
