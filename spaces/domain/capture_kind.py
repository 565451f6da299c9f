"""How what waits for review leaves. What was decided on has no text any more: it is a memory, or nowhere."""

from collections.abc import Iterator

from accounts.actor import Actor
from memoryhub.common.ids import typed_id
from memoryhub.common.times import format_time
from spaces.domain.kinds import Kind, Row, in_batches, register_kind
from spaces.models import Capture, Space


def export(actor: Actor, space: Space | None) -> Iterator[Row]:
    if space is not None:
        yield from map(_row, in_batches(Capture.objects.visible_to(actor).inside(space).waiting()))


def _row(row: Capture) -> Row:
    return {
        "id": typed_id("cap", row.id),
        **{
            name: getattr(row, name)
            for name in ("text", "origin", "agent", "session", "trigger", "written_by")
        },
        "created_at": format_time(row.created_at),
    }


CAPTURES = register_kind(Kind(prefix="cap", model_label="spaces.Capture", export=export))
