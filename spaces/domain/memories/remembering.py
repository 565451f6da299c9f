"""Remembering: a statement becomes a memory, or is seen again in the one that says it already."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Unpack
from uuid import UUID

from django.db import transaction

from accounts.actor import Actor
from accounts.domain.events import record_event
from memoryhub.common.errors import HubError
from memoryhub.common.ids import typed_id
from memoryhub.common.postgres.rows import insert
from memoryhub.common.secrets import marked
from spaces.domain.embeddings.pending import embed_later
from spaces.domain.memories.access import lock_memories, writing_place
from spaces.domain.memories.changing import assign, change
from spaces.domain.memories.core import check_core_room, lock_core
from spaces.domain.memories.expiry import discard_expired, expire_later, expiry_of
from spaces.domain.memories.fields import Place, Statement, cleaned, told, union
from spaces.domain.memories.holding import ACTIVE, HELD, reasons_of, see_held_again
from spaces.domain.memories.identity import identity_of
from spaces.domain.memories.trust import trust_of
from spaces.domain.quotas import check_quota, is_limited
from spaces.domain.search.indexing import index_fields
from spaces.models import Memory
from spaces.models.memories import ORIGINS, TIERS

UNION = 200


@dataclass(frozen=True)
class Remembered:
    """`created` is false when the memory was there already and was seen again."""

    memory: Memory
    created: bool


def remember(
    actor: Actor, *, account_wide: bool = False, captured: bool = False, **statement: Unpack[Statement]
) -> Remembered:
    """Store a statement, or see it again. QuotaExceeded when the space, or the core that it is for, is full.
    `captured` is what was said in passing, and is trusted less."""
    place = writing_place(actor, account_wide=account_wide)
    memory = composed(actor, place, statement, captured=captured)
    # From here on only a full core or a full space refuses: only then something is needed to go back to.
    with transaction.atomic(savepoint=memory.tier == "core" or is_limited(Memory)):
        return _remember(actor, place, memory)


@transaction.atomic
def remember_each(actor: Actor, statements: Sequence[Statement]) -> list[Remembered | HubError]:
    """Each statement by itself: one that is refused leaves the others alone.

    Those that are there already are locked in the order of ids, as a recall does; the others are stored in the
    order of identities. So of two callers one waits for the other, and never both for each other.
    """
    place = writing_place(actor)
    composing = [_attempt(composed, actor, place, statement) for statement in statements]
    memories = {i: memory for i, memory in enumerate(composing) if isinstance(memory, Memory)}
    if any(memory.tier == "core" for memory in memories.values()):
        lock_core(place.account_id, place.space_id)
    lock_memories(Memory.objects.identical_to(*memories.values()))
    outcomes: dict[int, Any] = dict(enumerate(composing))
    for i in sorted(memories, key=lambda i: bytes(memories[i].identity)):
        outcomes[i] = _attempt(_remember, actor, place, memories[i])
    return list(outcomes.values())


def remember_all(
    actor: Actor, place: Place, memories: Sequence[Memory], *, locking: Sequence[UUID] = ()
) -> list[Remembered]:
    """All of them, composed already, or none, inside the caller's transaction. Locks are taken as in
    `remember_each`, at the same time on the memories with the ids in `locking`."""
    rows = Memory.objects.identical_to(*memories)
    lock_memories(rows | Memory.objects.filter(account_id=place.account_id, id__in=locking))
    in_order = sorted(range(len(memories)), key=lambda i: bytes(memories[i].identity))
    outcomes = {i: _remember(actor, place, memories[i]) for i in in_order}
    return [outcomes[i] for i in range(len(memories))]


def see_again(actor: Actor, place: Place, stored: Memory, again: Memory) -> Remembered:
    """A repeat of that very memory, which is locked."""
    return _seen_again(actor, place, stored, again)


def composed(actor: Actor, place: Place, statement: Statement, *, captured: bool = False) -> Memory:
    """The memory that the statement would be. Nothing is stored."""
    fields = cleaned(statement, place)
    said_by = actor.attribution
    memory = Memory(
        account_id=place.account_id,
        space=place.space,
        trust=trust_of(actor, captured=captured),
        agent_instance=said_by.agent_instance,
        device_label=said_by.device_label,
        written_by=actor.key,
        created_at=place.now,
        updated_at=place.now,
        last_seen_at=place.now,
        **{"agent": said_by.agent, "session": said_by.session, "occurred_at": place.now, **fields},
    )
    memory.expires_at = expiry_of(memory, fields, place)
    memory.identity = identity_of(memory)
    memory.redactions = marked(told(memory))
    memory.held_for = reasons_of(memory)
    memory.status = HELD if memory.held_for else ACTIVE
    return memory


def _remember(actor: Actor, place: Place, memory: Memory) -> Remembered:
    if memory.status == HELD:
        return _held(actor, memory)
    if memory.tier == "core":
        lock_core(place.account_id, place.space_id)
    assign(memory, index_fields(memory, place.space))
    while twin := _insert_or_lock_twin(memory):
        if not twin.expired(place.now):
            return _seen_again(actor, place, twin, memory)
        discard_expired(actor, twin)
    return _created(actor, memory)


def _held(actor: Actor, memory: Memory) -> Remembered:
    """Stored, and nothing more: no vector, no place in the core, nothing that finds it."""
    if twin := see_held_again(memory):
        return Remembered(twin, created=False)
    assign(memory, index_fields(memory, memory.space))
    insert(memory)
    check_quota(Memory, memory.account_id, memory.space_id)
    record_event(actor, "memory.created", "memory", typed_id("mem", memory.id), space_id=memory.space_id)
    return Remembered(memory, created=True)


def _insert_or_lock_twin(memory: Memory) -> Memory | None:
    """Inserts the memory; or, where an active row is identical to it, answers that one, locked.

    Of several writers at once one inserts, and the others wait.
    """
    while not insert(memory, unless_there=True):
        twin = Memory.objects.identical_to(memory).select_for_update(no_key=True).first()
        if twin:  # else it was deleted in between
            return twin
    return None


def _created(actor: Actor, memory: Memory) -> Remembered:
    if memory.tier == "core":
        check_core_room(memory)
    check_quota(Memory, memory.account_id, memory.space_id)
    expire_later(memory)
    embed_later([memory])
    record_event(actor, "memory.created", "memory", typed_id("mem", memory.id), space_id=memory.space_id)
    return Remembered(memory, created=True)


def _seen_again(actor: Actor, place: Place, stored: Memory, again: Memory) -> Remembered:
    """Everything that the repeat adds is kept, and nothing is taken away."""
    stored.seen_count += 1
    stored.last_seen_at = place.now
    stored.save(update_fields=["seen_count", "last_seen_at"])
    change(actor, stored, _joined(stored, again), place.now)
    return Remembered(stored, created=False)


def _joined(stored: Memory, again: Memory) -> dict[str, Any]:
    return {
        "tags": union(stored.tags, again.tags)[:UNION],
        "topics": union(stored.topics, again.topics)[:UNION],
        "links": union(stored.links, again.links)[:UNION],
        "origin": max(stored.origin, again.origin, key=ORIGINS.index),
        "tier": max(stored.tier, again.tier, key=TIERS.index),
        "pinned": stored.pinned or again.pinned,
        "trust": again.trust if again.trust == "person" else stored.trust,
        "expires_at": max(stored.expires_at, again.expires_at)
        if stored.expires_at and again.expires_at
        else None,
    }


def _attempt(step: Callable[..., Any], *args: Any) -> Any:
    """The step's result, or its refusal with everything that it did undone."""
    try:
        with transaction.atomic():
            return step(*args)
    except HubError as refusal:
        return refusal
