"""When a space is to dream: enabled, none open, long enough after the last, and with something to look at."""

from dataclasses import dataclass
from datetime import datetime, timedelta

from django.utils import timezone

from spaces.models import DreamRun, JournalEntry, Memory, Space
from spaces.models.dreams import FINISHED

CHANGED_MEMORIES = 5


@dataclass(frozen=True)
class DreamState:
    """`next_due_at` is the earliest moment at which a dream may be due; none where dreams are off, and before
    the first one, which waits only for something to look at."""

    due: bool
    last_run_at: datetime | None
    next_due_at: datetime | None


def dream_state(space: Space) -> DreamState:
    now = timezone.now()
    last = _last_finished(space)
    enabled = space.dream_mode != "off"
    from_when = last + timedelta(hours=space.dream_hours) if last and enabled else None
    open = DreamRun.objects.inside(space).in_the_way(now)
    due = enabled and (from_when is None or from_when <= now) and not open.exists()
    return DreamState(due and has_changed(space, last), last, from_when)


def has_changed(space: Space, since: datetime | None) -> bool:
    """Enough memories, or one journal entry. What a dream wrote itself doesn't count: it was written as it ended."""
    journal, memories = JournalEntry.objects.inside(space), Memory.objects.active().inside(space)
    if since:
        journal, memories = journal.filter(updated_at__gt=since), memories.filter(updated_at__gt=since)
    enough = memories.order_by().values("id")[CHANGED_MEMORIES - 1 : CHANGED_MEMORIES]
    return enough.exists() or journal.exists()


def _last_finished(space: Space) -> datetime | None:
    runs = DreamRun.objects.inside(space).dreams().filter(status__in=FINISHED)
    return runs.order_by("-finished_at").values_list("finished_at", flat=True).first()
