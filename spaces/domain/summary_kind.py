"""How summaries leave. A memory that is forgotten is no longer among what they recorded."""

from collections.abc import Iterator

from accounts.actor import Actor
from memoryhub.common.ids import typed_id
from memoryhub.common.times import format_time
from spaces.domain.kinds import Kind, Row, in_batches, register_kind
from spaces.domain.summaries import IN_ORDER
from spaces.models import Space, Summary


def export(actor: Actor, space: Space | None) -> Iterator[Row]:
    rows = Summary.objects.filter(account_id=actor.account_id, space=space).prefetch_related(IN_ORDER)
    yield from map(_row, in_batches(rows))


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
