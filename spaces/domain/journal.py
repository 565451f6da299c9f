"""The journal: one entry a day and one a week, each with its earlier versions."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from typing import Any
from uuid import UUID

from django.db import transaction
from django.db.models import Q
from django.utils import timezone

from accounts.actor import Actor
from accounts.domain.events import record_event
from accounts.scopes import Right
from memoryhub.common.errors import NotFound, ValidationFailed
from memoryhub.common.ids import typed_id
from memoryhub.common.paging import Page, page_of
from memoryhub.common.text import is_blank
from memoryhub.common.times import monday_of, zone
from spaces.domain.access import access_space
from spaces.domain.checks import check_length
from spaces.domain.versions import check_version, insert_or_lock
from spaces.models import JournalEntry, JournalVersion, Space

SUMMARY_LENGTH = 10_000
LIST_ITEMS = 100
ITEM_LENGTH = 1_000
DAYS_AHEAD = 1
KINDS = ("day", "week")
LISTS = ("decisions", "open_loops", "source_refs")

Ref = str | UUID | None


@dataclass(frozen=True)
class Log:
    """What an entry says."""

    summary: str = ""
    decisions: Sequence[str] = ()
    open_loops: Sequence[str] = ()
    source_refs: Sequence[str] = ()

    @property
    def is_empty(self) -> bool:
        return is_blank(self.summary) and not any(getattr(self, name) for name in LISTS)

    def with_more(self, more: "Log") -> "Log":
        """The summary goes on in a new line; the lists are joined in order, without repeats."""
        lists = {name: [*dict.fromkeys([*getattr(self, name), *getattr(more, name)])] for name in LISTS}
        return Log("\n".join(part for part in (self.summary, more.summary) if not is_blank(part)), **lists)


def log_of(entry: JournalEntry) -> Log:
    return Log(entry.summary, entry.decisions, entry.open_loops, entry.source_refs)


def write_journal(
    actor: Actor,
    day: date,
    log: Log,
    *,
    kind: str = "day",
    merge: bool = False,
    expected_version: int | None = None,
    space: Ref = None,
) -> tuple[JournalEntry, bool]:
    """Replace the entry, or with `merge` add to it: (the entry, created). Without a difference, no new version."""
    within = access_space(actor, space, right=Right.WRITE)
    if log.is_empty:
        raise ValidationFailed({"summary": ["Send a summary, decisions, open_loops or source_refs."]})
    check_log(log)
    new = _blank(actor, within, kind, _checked_date(within, kind, day))
    _fill(new, log)
    same = JournalEntry.objects.inside(within).filter(kind=kind, date=new.date)
    with transaction.atomic():
        entry, created = insert_or_lock(new, same, "journal entry", expected_version=expected_version)
        if created:
            _record(actor, "journal.written", entry)
        else:
            _change(actor, entry, log_of(entry).with_more(log) if merge else log)
    return entry, created


def delete_entry(
    actor: Actor, day: date, *, kind: str = "day", expected_version: int | None = None, space: Ref = None
) -> JournalEntry:
    """Gone with its earlier versions."""
    within = access_space(actor, space, right=Right.WRITE)
    with transaction.atomic():
        entry = _find(within, day, kind, lock=True)
        check_version(entry, expected_version, "journal entry")
        _record(actor, "journal.deleted", entry)
        JournalEntry.objects.inside(within).filter(id=entry.id).delete()
    return entry


def check_log(log: Log) -> None:
    """Within the limits, also after more has been added."""
    check_length(log.summary, SUMMARY_LENGTH, "summary")
    for name in LISTS:
        items: Sequence[str] = getattr(log, name)
        if len(items) > LIST_ITEMS:
            raise ValidationFailed(
                {name: [f"Must have at most {LIST_ITEMS} items, with those of the entry."]}
            )
        for index, item in enumerate(items):
            check_length(item, ITEM_LENGTH, f"{name}[{index}]")


def _checked_date(within: Space, kind: str, day: date) -> date:
    if kind not in KINDS:
        raise ValidationFailed({"kind": [f"Must be one of {', '.join(KINDS)}."]})
    dated = monday_of(day) if kind == "week" else day
    if dated > today_in(within) + timedelta(days=DAYS_AHEAD):
        raise ValidationFailed({"date": ["Must not be more than one day ahead in the space's time zone."]})
    return dated


def today_in(space: Space) -> date:
    return timezone.now().astimezone(zone(space.time_zone)).date()


def _blank(actor: Actor, within: Space, kind: str, day: date) -> JournalEntry:
    now = timezone.now()
    return JournalEntry(
        account_id=within.account_id,
        space=within,
        kind=kind,
        date=day,
        written_by=actor.key,
        created_at=now,
        updated_at=now,
    )


def _change(actor: Actor, entry: JournalEntry, log: Log) -> None:
    """Keep the version as it was and write the next one, if there is a difference."""
    check_log(log)
    before = state(entry)
    earlier = JournalVersion(
        account_id=entry.account_id,
        entry=entry,
        version=entry.version,
        data=before,
        written_by=entry.written_by,
        written_at=entry.updated_at,
    )
    _fill(entry, log)
    if state(entry) == before:
        return
    earlier.save(force_insert=True)
    entry.version += 1
    entry.written_by, entry.updated_at = actor.key, timezone.now()
    entry.save(update_fields=["summary", *LISTS, "version", "written_by", "updated_at"])
    _record(actor, "journal.written", entry)


def _fill(entry: JournalEntry, log: Log) -> None:
    entry.summary = log.summary
    for name in LISTS:
        setattr(entry, name, list(getattr(log, name)))


def state(entry: JournalEntry) -> dict[str, Any]:
    """What people and agents wrote, as plain JSON: what an earlier version keeps."""
    return {"summary": entry.summary, **{name: list(getattr(entry, name)) for name in LISTS}}


def _record(actor: Actor, type: str, entry: JournalEntry) -> None:
    record_event(actor, type, "journal", typed_id("jrn", entry.id), space_id=entry.space_id)


def access_entry(actor: Actor, day: date, *, kind: str = "day", space: Ref = None) -> JournalEntry:
    return _find(access_space(actor, space), day, kind)


def _find(within: Space, day: date, kind: str, *, lock: bool = False) -> JournalEntry:
    entries = JournalEntry.objects.inside(within).filter(
        kind=kind, date=monday_of(day) if kind == "week" else day
    )
    entry = (entries.select_for_update(no_key=True) if lock else entries).first()
    if entry is None:
        raise NotFound("journal entry")
    return entry


def list_journal(
    actor: Actor,
    *,
    kind: str | None = None,
    since: date | None = None,
    until: date | None = None,
    limit: int = 50,
    cursor: str | None = None,
    space: Ref = None,
) -> Page[JournalEntry]:
    """Latest date first, both bounds included."""
    within = access_space(actor, space)
    bounds = Q(**{name: v for name, v in (("kind", kind), ("date__gte", since), ("date__lte", until)) if v})
    return page_of(
        JournalEntry.objects.inside(within).filter(bounds),
        token=cursor,
        size=limit,
        actor_key=actor.key,
        filters={"list": "journal", "space": within.id, "kind": kind, "since": since, "until": until},
        order=("-date", "-id"),
        field="cursor",
    )


def recent_journal(actor: Actor, space: Space, days: int) -> list[JournalEntry]:
    """Latest first: the entries of the last `days` days, today included, and of weeks that reach into them."""
    first = today_in(space) - timedelta(days=days - 1)
    in_days, in_weeks = Q(kind="day", date__gte=first), Q(kind="week", date__gte=monday_of(first))
    entries = JournalEntry.objects.visible_to(actor).inside(space).filter(in_days | in_weeks)
    return list(entries.order_by("-date", "-id")) if days > 0 else []


def list_entry_versions(
    actor: Actor,
    day: date,
    *,
    kind: str = "day",
    limit: int = 50,
    cursor: str | None = None,
    space: Ref = None,
) -> Page[JournalVersion]:
    """The earlier versions, newest first."""
    entry = access_entry(actor, day, kind=kind, space=space)
    return page_of(
        JournalVersion.objects.filter(account_id=entry.account_id, entry=entry),
        token=cursor,
        size=limit,
        actor_key=actor.key,
        filters={"list": "journal versions", "entry": entry.id},
        order=("-version", "-id"),
        field="cursor",
    )
