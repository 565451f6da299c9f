"""Records: rows of named collections, with a status, a due date and data."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db import transaction
from django.db.models import Count, Max
from django.utils import timezone

from accounts.actor import Actor
from accounts.domain.events import record_event
from accounts.scopes import Right
from memoryhub.common.canonical import canonical_json
from memoryhub.common.errors import NotFound
from memoryhub.common.ids import parse_id, typed_id
from memoryhub.common.paging import Page, page_of
from memoryhub.common.times import format_time, parse_due, zone
from spaces.domain.access import access_space
from spaces.domain.checks import KIB, check_json, check_key, check_name, check_visible
from spaces.domain.due import due_in
from spaces.domain.quotas import check_quota
from spaces.domain.versions import check_version, insert_or_lock
from spaces.models import Record, RecordVersion, Space
from spaces.models.records import open_filter

COLLECTION = STATUS = r"[a-z0-9][a-z0-9_.-]{0,63}"
KEY_LENGTH = 200
DATA_BYTES = 32 * KIB
DUE_FIRST = ("due_at", "-created_at", "-id")

Ref = str | UUID | None


@dataclass(frozen=True)
class Changes:
    """What a write asks for. None leaves a field as it is, an empty `due_at` clears it.

    `due_at` is as it was sent: a time, or a date alone. In `data` a null removes a field. `origin` only ever
    rises, from agent to user.
    """

    status: str | None = None
    due_at: str | None = None
    data: Mapping[str, Any] | None = None
    origin: str | None = None


@dataclass(frozen=True)
class CollectionSize:
    name: str
    records: int
    open: int
    updated_at: datetime


def put_record(
    actor: Actor, collection: str, changes: Changes, *, key: str = "", space: Ref = None
) -> tuple[Record, bool]:
    """A new record, or with a key that is taken, that record changed: (the record, created)."""
    check_name(collection, COLLECTION, "collection")
    within = access_space(actor, space, right=Right.WRITE)
    new = _blank(actor, within, collection, key)
    _apply(new, changes, within)
    with transaction.atomic():
        stored, created = _place(new)
        if created:
            check_quota(Record, within.account_id, within.id)
            _record(actor, "record.created", stored)
        else:
            _change(actor, stored, changes, within)
    return stored, created


def update_record(
    actor: Actor,
    collection: str,
    id: str | UUID,
    changes: Changes,
    *,
    expected_version: int | None = None,
    space: Ref = None,
) -> Record:
    """What changes nothing raises no version."""
    within = access_space(actor, space, right=Right.WRITE)
    with transaction.atomic():
        record = _find(within, collection, id, lock=True)
        check_version(record, expected_version, "record")
        _change(actor, record, changes, within)
    return record


def delete_record(
    actor: Actor, collection: str, id: str | UUID, *, expected_version: int | None = None, space: Ref = None
) -> Record:
    """Gone with its earlier versions."""
    within = access_space(actor, space, right=Right.WRITE)
    with transaction.atomic():
        record = _find(within, collection, id, lock=True)
        check_version(record, expected_version, "record")
        _record(actor, "record.deleted", record)
        Record.objects.inside(within).filter(id=record.id).delete()
    return record


def _blank(actor: Actor, within: Space, collection: str, key: str) -> Record:
    if key:
        check_visible(key, "key")
    now = timezone.now()
    return Record(
        account_id=within.account_id,
        space=within,
        collection=collection,
        key=check_key(key, KEY_LENGTH),
        written_by=actor.key,
        created_at=now,
        updated_at=now,
    )


def _place(new: Record) -> tuple[Record, bool]:
    if not new.key:
        new.save(force_insert=True)
        return new, True
    same = Record.objects.inside(new.space).filter(collection=new.collection, key=new.key)
    return insert_or_lock(new, same, "record")


def _change(actor: Actor, record: Record, changes: Changes, within: Space) -> None:
    """Keep the version as it was and write the next one, if there is a difference."""
    before = state(record)
    earlier = RecordVersion(
        account_id=record.account_id,
        record=record,
        version=record.version,
        data=before,
        written_by=record.written_by,
        written_at=record.updated_at,
    )
    _apply(record, changes, within)
    if canonical_json(state(record)) == canonical_json(before):
        return
    earlier.save(force_insert=True)
    record.version += 1
    record.written_by, record.updated_at = actor.key, timezone.now()
    record.save(
        update_fields=["status", "due_at", "due_on", "data", "origin", "version", "written_by", "updated_at"]
    )
    _record(actor, "record.updated", record)


def _apply(record: Record, changes: Changes, within: Space) -> None:
    if changes.status is not None:
        record.status = check_name(changes.status, STATUS, "status")
    if changes.due_at is not None:
        record.due_at = record.due_on = None
        if changes.due_at:
            due = due_in(within, changes.due_at)
            record.due_at, record.due_on = due.at, due.date
    if changes.data is not None:
        record.data = merged(record.data, changes.data)
    if changes.origin == "user":
        record.origin = "user"


def merged(data: Mapping[str, Any], changes: Mapping[str, Any]) -> dict[str, Any]:
    """Shallowly; null removes a field."""
    both = {name: value for name, value in {**data, **changes}.items() if value is not None}
    check_json(both, DATA_BYTES, "data")
    return both


def state(record: Record) -> dict[str, Any]:
    """The fields that people and agents give, as plain JSON: what an earlier version keeps."""
    return {
        "status": record.status,
        "due_at": due_text(record),
        "due_date_only": record.due_on is not None,
        "data": record.data,
        "origin": record.origin,
    }


def due_text(record: Record) -> str | None:
    """A date alone stays one."""
    if record.due_on:
        return record.due_on.isoformat()
    return format_time(record.due_at) if record.due_at else None


def _record(actor: Actor, type: str, record: Record) -> None:
    record_event(actor, type, "record", typed_id("rec", record.id), space_id=record.space_id)


def access_record(actor: Actor, collection: str, id: str | UUID, *, space: Ref = None) -> Record:
    return _find(access_space(actor, space), collection, id)


def _find(within: Space, collection: str, id: str | UUID, *, lock: bool = False) -> Record:
    records = Record.objects.inside(within).filter(collection=collection, id=parse_id("rec", id))
    record = (records.select_for_update(no_key=True) if lock else records).first()
    if record is None:
        raise NotFound("record")
    return record


def query_records(
    actor: Actor,
    collection: str,
    *,
    statuses: Sequence[str] = (),
    key: str = "",
    due_before: str = "",
    limit: int = 50,
    cursor: str | None = None,
    space: Ref = None,
) -> Page[Record]:
    """Due first, then those never due; newest first among equals. `due_before` (inclusive) as it was sent."""
    within = access_space(actor, space)
    records = Record.objects.inside(within).filter(collection=collection)
    if statuses:
        for status in statuses:
            check_name(status, STATUS, "status")
        records = records.filter(status__in=statuses)
    if key:
        records = records.filter(key=check_key(key, KEY_LENGTH))
    if due_before:
        records = records.filter(due_at__lte=parse_due(due_before, zone(within.time_zone), "due_before").at)
    filters = {"collection": collection, "statuses": sorted(statuses), "key": key, "due_before": due_before}
    return page_of(
        records,
        token=cursor,
        size=limit,
        actor_key=actor.key,
        filters={"list": "records", "space": within.id, **filters},
        order=DUE_FIRST,
        field="cursor",
    )


def list_record_versions(
    actor: Actor,
    collection: str,
    id: str | UUID,
    *,
    limit: int = 50,
    cursor: str | None = None,
    space: Ref = None,
) -> Page[RecordVersion]:
    """The earlier versions, newest first."""
    record = access_record(actor, collection, id, space=space)
    return page_of(
        RecordVersion.objects.filter(account_id=record.account_id, record=record),
        token=cursor,
        size=limit,
        actor_key=actor.key,
        filters={"list": "record versions", "record": record.id},
        order=("-version", "-id"),
        field="cursor",
    )


def list_collections(actor: Actor, *, space: Ref = None) -> list[CollectionSize]:
    within = access_space(actor, space)
    counted = (
        Record.objects.inside(within)
        .values("collection")
        .annotate(records=Count("id"), open=Count("id", filter=open_filter(within)), last=Max("updated_at"))
        .order_by("collection")
    )
    return [CollectionSize(r["collection"], r["records"], r["open"], r["last"]) for r in counted]


def count_statuses(actor: Actor, collection: str, *, space: Ref = None) -> dict[str, int]:
    """How many records of the collection have each status, by name."""
    records = Record.objects.inside(access_space(actor, space)).filter(collection=collection)
    return dict(records.order_by("status").values_list("status").annotate(n=Count("id")))
