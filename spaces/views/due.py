"""How a due date is shown: a calendar day stays that day, whatever zone the viewer is in."""

from dataclasses import dataclass
from datetime import datetime

from django.utils import timezone
from django.utils.translation import gettext as _

from memoryhub.common.times import zone
from memoryhub.web import moments
from spaces.domain.due import is_open, is_overdue
from spaces.models import Record, Reminder, Space


@dataclass(frozen=True)
class DueBadge:
    text: str
    title: str
    tone: str
    iso: str


def due_badge(record: Record, space: Space) -> DueBadge | None:
    """None where nothing is due. A closed record is never overdue."""
    if record.due_at is None:
        return None
    now = timezone.now()
    overdue = is_open(record, space) and is_overdue(record, now)
    text, soon = _day(record, space, now) if record.due_on else _moment(record.due_at, now)
    tone = "bad" if overdue else "warn" if soon and is_open(record, space) else ""
    said = _("overdue, %(when)s") if overdue else _("due %(when)s")
    return DueBadge(said % {"when": text}, _title(record, space), tone, _iso(record))


def reminder_badge(reminder: Reminder, space: Space) -> DueBadge:
    now = timezone.now()
    text, soon = _day(reminder, space, now) if reminder.due_on else _moment(reminder.due_at, now)
    overdue = reminder.due_at < now
    said = _("overdue, %(when)s") if overdue else _("due %(when)s")
    tone = "bad" if overdue else "warn" if soon else ""
    return DueBadge(said % {"when": text}, _title(reminder, space), tone, _iso(reminder))


def _day(record: Record | Reminder, space: Space, now: datetime) -> tuple[str, bool]:
    assert record.due_on is not None
    today = now.astimezone(zone(space.time_zone)).date()
    return moments.due_day(record.due_on, today), 0 <= (record.due_on - today).days <= 1


def _moment(due: datetime, now: datetime) -> tuple[str, bool]:
    return moments.spoken(due, now), due > now and (due - now).days < 1


def _title(record: Record | Reminder, space: Space) -> str:
    if record.due_on:
        return _("%(day)s, the whole day in %(zone)s") % {
            "day": record.due_on.isoformat(),
            "zone": space.time_zone,
        }
    assert record.due_at is not None
    return moments.exact(record.due_at)


def _iso(record: Record | Reminder) -> str:
    return record.due_on.isoformat() if record.due_on else record.due_at.isoformat() if record.due_at else ""
