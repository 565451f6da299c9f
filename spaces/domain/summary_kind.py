"""How summaries leave. A memory that is forgotten, or stays behind, is not among what they recorded."""

from collections.abc import Iterator

from accounts.actor import Actor
from memoryhub.common.ids import typed_id
from memoryhub.common.times import format_time
from spaces.domain.kinds import Kind, Row, in_batches, register_kind
from spaces.domain.summaries import items_among
from spaces.models import Memory, Space, Summary


def export(actor: Actor, space: Space | None) -> Iterator[Row]:
    rows = Summary.objects.filter(account_id=actor.account_id, space=space)
    items = items_among(Memory.objects.leaving_with(actor))
    yield from map(_row, in_batches(rows.prefetch_related(items)))


def _row(summary: Summary) -> Row:
    return {
        "id": typed_id("sum", summary.id),
        "agent": summary.agent,
        "session": summary.session,
        "trigger": summary.trigger,
        "text": summary.text,
        "memories": [typed_id("mem", item.memory_id) for item in summary.items.all()],
        "redactions": summary.redactions,
        "written_by": summary.written_by,
        "created_at": format_time(summary.created_at),
    }


SUMMARIES = register_kind(Kind(prefix="sum", model_label="spaces.Summary", export=export))
