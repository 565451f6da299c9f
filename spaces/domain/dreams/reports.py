"""What a run tells of itself."""

from dataclasses import dataclass

from django.utils import timezone

from memoryhub.common.ids import typed_id
from memoryhub.common.times import format_time
from spaces.models import DreamChange, DreamRun


@dataclass(frozen=True)
class Applied:
    op: str
    ids: list[str]
    new_id: str | None


@dataclass(frozen=True)
class Skipped:
    index: int
    code: str
    reason: str


@dataclass(frozen=True)
class Report:
    run_id: str
    status: str
    applied: list[Applied]
    skipped: list[Skipped]
    undo_until: str | None


def report(run: DreamRun) -> Report:
    """No stored text is in it. An undone run still tells what it had applied."""
    changes = list(run.changes.order_by("number"))
    return Report(
        typed_id("run", run.id),
        run.status_at(timezone.now()),
        [_applied(change) for change in changes if change.state in ("applied", "undone")],
        [Skipped(c.number, c.code, c.note) for c in changes if c.state in ("skipped", "declined")],
        format_time(run.undo_until) if run.undo_until else None,
    )


def _applied(change: DreamChange) -> Applied:
    ids = [typed_id("mem", id) for id in change.memories]
    return Applied(change.op, ids, typed_id("mem", change.made) if change.made else None)
