"""How records leave, and how they are forgotten: whole, or in the earlier versions that alone hold a phrase."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from uuid import UUID

from django.db.models import Prefetch

from accounts.actor import Actor
from accounts.domain.events import record_events
from accounts.scopes import Right
from memoryhub.common.ids import typed_id
from memoryhub.common.text import excerpt
from memoryhub.common.times import format_time
from spaces.domain.access import access_rows
from spaces.domain.arriving import Fields, Shape, arrive, versions_of, written_by
from spaces.domain.checks import check_json, check_key, check_name
from spaces.domain.due import due_in
from spaces.domain.kinds import (
    SAMPLE,
    Arrival,
    Forgetting,
    Forgotten,
    Hit,
    Kept,
    Kind,
    Row,
    Selection,
    in_batches,
    register_kind,
)
from spaces.domain.phrases import holders, texts_in
from spaces.domain.records import COLLECTION, DATA_BYTES, KEY_LENGTH, STATUS, state
from spaces.models import Record, RecordVersion, Space

OLDEST_FIRST = Prefetch("versions", queryset=RecordVersion.objects.order_by("version"))


def find(actor: Actor, selection: Selection) -> list[Hit]:
    rows = Record.objects.visible_to(actor)
    held = holders(rows.inside(selection.space), selection.query, told)
    named = access_rows(actor, rows, selection.ids, "record", right=Right.WRITE)
    hits = {v.record_id: Hit(v.record_id, text, earlier=True) for v, text in _earlier(actor, selection)}
    hits |= {record.id: Hit(record.id, text) for record, text in held}
    hits |= {record.id: Hit(record.id, _sample(record)) for record in named}
    return list(hits.values())


def told(record: Record) -> list[object]:
    return [record.key, record.status, record.data]


def _earlier(actor: Actor, selection: Selection) -> Iterator[tuple[RecordVersion, str]]:
    records = Record.objects.visible_to(actor).inside(selection.space)
    versions = RecordVersion.objects.filter(record__in=records)
    return holders(versions, selection.query, lambda v: [v.data["status"], v.data["data"]])


def _sample(record: Record) -> str:
    return excerpt(" ".join(text for text in texts_in([record.key, record.data]) if text), SAMPLE)


def erase(actor: Actor, selection: Selection, hits: Sequence[Hit]) -> Forgotten:
    whole = [hit.id for hit in hits if not hit.earlier]
    rows = Record.objects.filter(account_id=actor.account_id, id__in=whole)
    spaces = dict(rows.order_by("id").select_for_update().values_list("id", "space_id"))
    rows.delete()
    _tell(actor, "record.forgotten", spaces)
    return Forgotten(deleted=len(spaces), versions=_erase_earlier(actor, selection, hits))


def _erase_earlier(actor: Actor, selection: Selection, hits: Sequence[Hit]) -> int:
    staying = {hit.id for hit in hits if hit.earlier}
    versions = [v for v, _ in _earlier(actor, selection) if v.record_id in staying] if staying else []
    ids = [version.id for version in versions]
    RecordVersion.objects.filter(account_id=actor.account_id, id__in=ids).delete()
    _tell(actor, "record.updated", {version.record_id: selection.space.id for version in versions})
    return len(versions)


def _tell(actor: Actor, type: str, spaces: Mapping[UUID, UUID]) -> None:
    record_events(actor, type, "record", {typed_id("rec", id): space for id, space in spaces.items()})


def export(actor: Actor, space: Space | None) -> Iterator[Row]:
    if space is not None:
        rows = Record.objects.visible_to(actor).inside(space).prefetch_related(OLDEST_FIRST)
        yield from map(_row, in_batches(rows))


def _row(record: Record) -> Row:
    return {**tell(record), "versions": versions_of(record)}


def tell(record: Record) -> Row:
    return {
        "id": typed_id("rec", record.id),
        "collection": record.collection,
        "key": record.key,
        **state(record),
        "version": record.version,
        "written_by": record.written_by,
        "created_at": format_time(record.created_at),
        "updated_at": format_time(record.updated_at),
    }


def read(arrival: Arrival, row: Fields) -> Record:
    assert arrival.space is not None
    data = row.mapping("data")
    check_json(data, DATA_BYTES, "data")
    due = due_in(arrival.space, text) if (text := row.text("due_at", "")) else None
    return Record(
        space=arrival.space,
        collection=check_name(row.text("collection"), COLLECTION, "collection"),
        key=check_key(row.text("key", ""), KEY_LENGTH),
        status=check_name(row.text("status", "open"), STATUS, "status"),
        due_at=due.at if due else None,
        due_on=due.date if due else None,
        data=data,
        origin=row.one_of("origin", ("agent", "user")),
        version=row.whole("version", 1, least=1),
        written_by=written_by(row),
        created_at=row.moment("created_at", arrival.now),
        updated_at=row.moment("updated_at", arrival.now),
    )


def place(record: Record) -> tuple[str, str] | None:
    return (record.collection, record.key) if record.key else None


def standing(arrival: Arrival, records: Sequence[Record]) -> Iterable[Record]:
    assert arrival.space is not None
    places = {place(record) for record in records}
    rows = Record.objects.inside(arrival.space).filter(key__in={r.key for r in records if r.key})
    return (row for row in rows if place(row) in places)


SHAPE = Shape(
    prefix="rec",
    model=Record,
    read=read,
    tell=tell,
    place=place,
    standing=standing,
    stated=("status", "due_at", "due_date_only", "data", "origin"),
    event=("record.created", "record"),
    state=state,
    version=RecordVersion,
    owner="record",
)

RECORDS = register_kind(
    Kind(
        prefix="rec",
        model_label="spaces.Record",
        export=export,
        forgetting=Forgetting(scope="records", find=find, erase=erase),
        arrive=partial(arrive, SHAPE),
        kept=(
            Kept("spaces.Record", ("data",), names=("collection", "key", "status")),
            Kept("spaces.RecordVersion", ("data",)),
        ),
    )
)
