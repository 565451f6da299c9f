"""How values leave. No query to forget reaches them: they are deleted by key."""

from collections.abc import Iterator

from accounts.actor import Actor
from memoryhub.common.ids import typed_id
from memoryhub.common.times import format_time
from spaces.domain.kinds import Kind, Row, in_batches, register_kind
from spaces.models import Space, Value


def export(actor: Actor, space: Space | None) -> Iterator[Row]:
    if space is not None:
        yield from map(_row, in_batches(Value.objects.visible_to(actor).inside(space)))


def _row(value: Value) -> Row:
    return {
        "id": typed_id("val", value.id),
        "namespace": value.namespace,
        "key": value.key,
        "value": value.value,
        "version": value.version,
        "written_by": value.written_by,
        "created_at": format_time(value.created_at),
        "updated_at": format_time(value.updated_at),
    }


VALUES = register_kind(Kind(prefix="val", model_label="spaces.Value", export=export))
