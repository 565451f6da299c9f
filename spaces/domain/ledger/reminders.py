"""Reminders: due once, or again and again."""

from collections.abc import Sequence
from dataclasses import dataclass

from django.db import transaction
from django.utils import timezone

from accounts.actor import Actor
from accounts.domain.events import record_event
from accounts.scopes import Right
from memoryhub.common.errors import NotFound, ValidationFailed
from memoryhub.common.ids import parse_id, typed_id
from memoryhub.common.paging import Page, page_of
from memoryhub.common.times import Due, format_time, parse_due, zone
from spaces.domain.access import require_right
from spaces.domain.due import due_in, due_until
from spaces.domain.ledger.fields import as_path, as_text
from spaces.domain.ledger.places import reading_space, writing_space
from spaces.domain.ledger.recurrence import as_rule, check_recurs, next_time, wall_clock
from spaces.models import Reminder, Space

MOST_DUE = 100


@dataclass(frozen=True)
class Reminded:
    reminder: Reminder
    warnings: Sequence[str] = ()


def set_reminder(
    actor: Actor, content: str, due_at: str, *, recurrence: str = "", path: str = ""
) -> Reminded:
    said = as_text("content", content, 2000, required=True)
    if not due_at.strip():
        raise ValidationFailed({"due_at": ["Say when it is due: a time, or a date for the whole day."]})
    rule = as_rule(recurrence) if recurrence.strip() else ""
    space, warnings = writing_space(actor, as_path(path))
    with transaction.atomic():
        due = due_in(space, due_at)
        if rule:
            check_recurs(rule, due.at, zone(space.time_zone))
        reminder = _new(actor, space, said, due, rule, as_path(path))
        reminder.save(force_insert=True)
        _tell(actor, "ledger.reminder_set", reminder)
    return Reminded(reminder, warnings)


def list_reminders(
    actor: Actor,
    *,
    due_before: str = "",
    completed: bool = False,
    path: str = "",
    size: int = 50,
    cursor: str | None = None,
) -> Page[Reminder]:
    """The open ones, first due first, until `due_before` (inclusive); with `completed` the others too, newest
    first."""
    space = reading_space(actor, path)
    rows = Reminder.objects.visible_to(actor).inside(space)
    if due_before:
        rows = rows.filter(due_at__lte=parse_due(due_before, zone(space.time_zone), "due_before").at)
    return page_of(
        rows if completed else rows.open(),
        token=cursor,
        size=size,
        field="cursor",
        actor_key=actor.key,
        filters={"list": "reminders", "space": space.id, "due_before": due_before, "completed": completed},
        order=("-created_at", "-id") if completed else ("due_at", "id"),
    )


def due_reminders(actor: Actor, space: Space, *, within_days: int) -> tuple[list[Reminder], int]:
    """Open ones that are due by the end of that day, first due first, and how many there are altogether."""
    until = due_until(space, within_days, timezone.now())
    rows = Reminder.objects.visible_to(actor).inside(space).open().filter(due_at__lte=until)
    found = list(rows.order_by("due_at", "id")[:MOST_DUE])
    return found, len(found) if len(found) < MOST_DUE else rows.count()


@transaction.atomic
def complete_reminder(actor: Actor, id: str) -> Reminder:
    """One that recurs moves on to its next time. Completing one that is complete changes nothing."""
    rows = Reminder.objects.visible_to(actor).select_related("space")
    reminder = rows.filter(id=parse_id("rmd", id)).select_for_update(of=("self",), no_key=True).first()
    if reminder is None:
        raise NotFound("reminder")
    require_right(actor, reminder.space, Right.WRITE)
    if reminder.completed_at is None:
        _complete(actor, reminder)
    return reminder


def due_text(reminder: Reminder) -> str:
    """A calendar day as that day."""
    return reminder.due_on.isoformat() if reminder.due_on else format_time(reminder.due_at)


def _complete(actor: Actor, reminder: Reminder) -> None:
    now, place = timezone.now(), zone(reminder.space.time_zone)
    following = (
        next_time(reminder.recurrence, reminder.starts_at, reminder.due_at, place)
        if reminder.recurrence
        else None
    )
    if following is None:
        reminder.completed_at = now
    elif reminder.due_on:
        due = Due.on(following.astimezone(place).date(), place)
        reminder.due_on, reminder.due_at = due.date, due.at
    else:
        reminder.due_at = following
    reminder.completions += 1
    reminder.version += 1
    reminder.last_completed_at, reminder.updated_at, reminder.written_by = now, now, actor.key
    reminder.save()
    _tell(actor, "ledger.reminder_completed", reminder)


def _new(actor: Actor, space: Space, content: str, due: Due, rule: str, path: str) -> Reminder:
    now = timezone.now()
    return Reminder(
        account_id=actor.account_id,
        space=space,
        content=content,
        due_at=due.at,
        due_on=due.date,
        recurrence=rule,
        starts_at=wall_clock(due.at, zone(space.time_zone)),
        path=path,
        agent=actor.attribution.agent,
        written_by=actor.key,
        created_at=now,
        updated_at=now,
    )


def _tell(actor: Actor, event: str, reminder: Reminder) -> None:
    record_event(actor, event, "reminder", typed_id("rmd", reminder.id), space_id=reminder.space_id)
