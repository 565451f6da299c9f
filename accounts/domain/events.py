"""The append-only record of what happened: ids and types, never the text it happened to."""

import hashlib
from collections.abc import Mapping, Sequence
from uuid import UUID

from django.utils import timezone

from accounts.actor import Actor
from accounts.domain.jobs import enqueue
from accounts.models import Event
from memoryhub.common.canonical import canonical_json
from memoryhub.common.live import publish_events
from memoryhub.common.locks import lock
from memoryhub.common.postgres.rows import Columns, insert
from memoryhub.common.postgres.statements import row_of, rows_of, run
from memoryhub.common.times import format_time

SEAL = "seal_events"
BATCH = 500
EVENTS = Columns(Event)
LAST = (
    "select seq, hash from accounts_event where account_id = %s and seq is not null order by seq desc limit 1"
)
UNSEALED = f"""
    select {", ".join(EVENTS.names)} from accounts_event
     where account_id = %s and seq is null order by id limit {BATCH}
"""  # noqa: S608
SAVE_SEALS = """
    update accounts_event as event set seq = seal.seq, previous_hash = seal.previous, hash = seal.hash
      from unnest(%s::uuid[], %s::bigint[], %s::bytea[], %s::bytea[]) as seal (id, seq, previous, hash)
     where event.account_id = %s and event.id = seal.id
"""


def record_event(
    actor: Actor,
    type: str,
    object_type: str,
    object_id: str,
    *,
    space_id: UUID | None = None,
    summary: str = "",
) -> Event:
    """Write one event in the transaction of the change it tells of. `object_id` is the typed id."""
    event = _event(actor, type, object_type, object_id, space_id, summary)
    insert(event)
    enqueue(SEAL, actor.account_id)
    return event


def record_events(actor: Actor, type: str, object_type: str, objects: Mapping[str, UUID | None]) -> None:
    """One event for each of many objects: typed id → its space. Two statements however many there are."""
    events = [_event(actor, type, object_type, object_id, space) for object_id, space in objects.items()]
    if events:
        Event.objects.bulk_create(events, batch_size=1000)
        enqueue(SEAL, actor.account_id)


def _event(
    actor: Actor, type: str, object_type: str, object_id: str, space_id: UUID | None, summary: str = ""
) -> Event:
    return Event(
        account_id=actor.account_id,
        type=type,
        at=timezone.now(),
        actor=actor.key,
        space_id=space_id,
        object_type=object_type,
        object_id=object_id,
        summary=summary,
    )


def seal_events(account_id: UUID) -> int:
    """Number and chain what has been committed since the last time. One sealer an account at a time.

    Numbers become visible in their order: a sealer holds the lock until its own numbers are committed.
    """
    lock(f"seal:{account_id}")
    seq, previous = row_of(LAST, [account_id]) or (0, b"")
    unsealed = [EVENTS.read(row) for row in rows_of(UNSEALED, [account_id])]
    for event in unsealed:
        seq += 1
        event.seq, event.previous_hash = seq, previous
        event.hash = previous = chain_hash(previous, event)
    if unsealed:
        _save_seals(account_id, unsealed)
        publish_events(account_id, seq)
    if len(unsealed) == BATCH:
        enqueue(SEAL, account_id)
    return len(unsealed)


def _save_seals(account_id: UUID, events: Sequence[Event]) -> None:
    """One statement, and a quick one: `bulk_update` takes a millisecond an event."""
    columns = zip(*((e.id, e.seq, e.previous_hash, e.hash) for e in events), strict=True)
    run(SAVE_SEALS, [*map(list, columns), account_id])


def chain_hash(previous: bytes, event: Event) -> bytes:
    """SHA-256 over the previous hash and the canonical JSON of the event."""
    return hashlib.sha256(previous + canonical_json(event_line(event))).digest()


def event_line(event: Event) -> dict[str, object]:
    """What is sealed of an event: all that it says."""
    return {
        "id": str(event.id),
        "account": str(event.account_id),
        "seq": event.seq,
        "type": event.type,
        "at": format_time(event.at),
        "actor": event.actor,
        "space": str(event.space_id) if event.space_id else None,
        "object": [event.object_type, event.object_id],
        "summary": event.summary,
    }
