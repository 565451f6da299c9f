"""How events leave: with their numbers and hashes, so that the chain can be checked by whoever has all of it."""

from collections.abc import Iterator

from accounts.actor import Actor
from accounts.models import Event
from memoryhub.common.ids import typed_id
from memoryhub.common.times import format_time
from spaces.domain.kinds import Kind, Row, in_batches, register_kind
from spaces.models import Space


def export(actor: Actor, space: Space | None) -> Iterator[Row]:
    rows = Event.objects.filter(account_id=actor.account_id, space_id=space.id if space else None)
    yield from map(_row, in_batches(rows))


def _row(event: Event) -> Row:
    return {
        "id": typed_id("evt", event.id),
        "seq": event.seq,
        "type": event.type,
        "at": format_time(event.at),
        "actor": event.actor,
        "object": {"type": event.object_type, "id": event.object_id},
        "summary": event.summary,
        "previous_hash": bytes(event.previous_hash).hex() if event.previous_hash is not None else None,
        "hash": bytes(event.hash).hex() if event.hash is not None else None,
    }


EVENTS = register_kind(Kind(prefix="evt", model_label="accounts.Event", export=export))
