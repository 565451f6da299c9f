"""How dreams leave, and what goes from them when a text is forgotten. No query to forget reaches a run itself."""

from collections.abc import Iterator

from accounts.actor import Actor
from memoryhub.common.ids import typed_id
from memoryhub.common.times import format_time
from spaces.domain.dreams.scrubbing import scrub
from spaces.domain.kinds import Kind, Row, in_batches, register_kind
from spaces.models import DreamChange, DreamRun, Space


def export(actor: Actor, space: Space | None) -> Iterator[Row]:
    if space is not None:
        rows = DreamRun.objects.visible_to(actor).inside(space).prefetch_related("changes")
        yield from map(_row, in_batches(rows))


def _row(run: DreamRun) -> Row:
    return {
        "id": typed_id("run", run.id),
        "kind": run.kind,
        "thinker": run.thinker,
        "status": run.status,
        "review": run.review,
        "notes": run.notes,
        "trouble": run.trouble,
        "model": run.model,
        "started_by": run.started_by,
        "submitted_by": run.submitted_by,
        "decided_by": run.decided_by,
        "undone_by": run.undone_by,
        "created_at": format_time(run.created_at),
        "finished_at": format_time(run.finished_at) if run.finished_at else None,
        "undone_at": format_time(run.undone_at) if run.undone_at else None,
        "changes": [_change(change) for change in sorted(run.changes.all(), key=lambda c: c.number)],
    }


def _change(change: DreamChange) -> Row:
    return {
        "index": change.number,
        "op": change.op,
        "ids": [typed_id("mem", id) for id in change.memories],
        "new_id": typed_id("mem", change.made) if change.made else None,
        "proposal": change.proposal,
        "state": change.state,
        "code": change.code,
        "reason": change.note,
    }


DREAMS = register_kind(
    Kind(prefix="run", model_label="spaces.DreamRun", export=export, scrub=scrub, plural="dreams")
)
