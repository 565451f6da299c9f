"""What of the records is open and due: for the start of a task, and for the pages."""

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db import connection
from django.utils import timezone

from accounts.actor import Actor
from memoryhub.common.times import Due, day_end, parse_due, zone
from spaces.models import Record, Reminder, Space
from spaces.models.records import CLOSED, RecordQuerySet

MOST = 200
ZONE_LOCK = "hashtextextended('zone:' || %s, 0)"
MOVE = """
    update {table} as due set due_at = moved.moment
      from unnest(%s::date[], %s::timestamptz[]) as moved (day, moment)
     where due.account_id = %s and due.space_id = %s and due.due_on = moved.day
"""


@dataclass(frozen=True)
class DueRecords:
    """Open records that are due, the longest due first. `total` counts those beyond MOST too."""

    overdue: list[Record]
    due: list[Record]
    total: int


@dataclass(frozen=True)
class OpenRecords:
    """Open records that are due later or never, newest first. `total` counts those left out too."""

    newest: list[Record]
    total: int


def due_records(
    actor: Actor, space: Space, *, within_days: int, collections: Collection[str] | None = None
) -> DueRecords:
    """Due until the end of the day that is `within_days` days from today in the space's zone."""
    now = timezone.now()
    due = _open(actor, space, collections).filter(due_at__lte=due_until(space, within_days, now))
    rows, total = _first(due.order_by("due_at", "-created_at", "-id"), MOST)
    return DueRecords(
        overdue=[r for r in rows if is_overdue(r, now)],
        due=[r for r in rows if not is_overdue(r, now)],
        total=total,
    )


def open_records(
    actor: Actor,
    space: Space,
    *,
    due_after_days: int | None = None,
    collections: Collection[str] | None = None,
    limit: int = 10,
) -> OpenRecords:
    """Without `due_after_days` every open record; else those that `due_records` with so many days leaves."""
    found = _open(actor, space, collections)
    if due_after_days is not None:
        found = found.exclude(due_at__lte=due_until(space, due_after_days, timezone.now()))
    return OpenRecords(*_first(found.order_by("-created_at", "-id"), limit))


def due_in(space: Space, text: str) -> Due:
    """When something is due that is due by this text in the space.

    The end of a day depends on the space's zone: it can't change until the transaction ends.
    """
    with connection.cursor() as cursor:
        cursor.execute(f"select pg_advisory_xact_lock_shared({ZONE_LOCK})", [str(space.id)])
    name = Space.objects.filter(account_id=space.account_id, id=space.id).values_list("time_zone", flat=True)
    return parse_due(text, zone(name.get()), "due_at")


def move_due_days(space: Space) -> None:
    """Once the space's zone is another: find again the moments at which its due days end.

    Waits for those who are just writing some, and lets none begin until the transaction ends.
    """
    there = zone(space.time_zone)
    with connection.cursor() as cursor:
        cursor.execute(f"select pg_advisory_xact_lock({ZONE_LOCK})", [str(space.id)])
        for rows in (Record.objects.inside(space), Reminder.objects.inside(space)):
            days = list(rows.exclude(due_on=None).values_list("due_on", flat=True).distinct())
            moments = [day_end(day, there) for day in days if day]
            statement = MOVE.format(table=rows.model._meta.db_table)
            cursor.execute(statement, [days, moments, space.account_id, space.id])


def due_until(space: Space, days: int, now: datetime) -> datetime:
    there = zone(space.time_zone)
    return day_end(now.astimezone(there).date() + timedelta(days=days), there)


def is_open(record: Record, space: Space) -> bool:
    """The same as the filter `open_in`."""
    return is_open_status(space, record.collection, record.status)


def is_open_status(space: Space, collection: str, status: str) -> bool:
    own: dict[str, list[str]] = space.closed_statuses
    return status not in own.get(collection, CLOSED)


def is_overdue(record: Record, now: datetime) -> bool:
    """Of an open record. What is due on a day is not overdue during that day."""
    return record.due_at is not None and record.due_at < now


def _open(actor: Actor, space: Space, collections: Collection[str] | None) -> RecordQuerySet:
    return Record.objects.visible_to(actor).open_in(space).in_collections(collections)


def _first(records: RecordQuerySet, limit: int) -> tuple[list[Record], int]:
    rows = list(records[:limit])
    return rows, len(rows) if len(rows) < limit else records.count()
