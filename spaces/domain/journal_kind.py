"""How the journal leaves, and how it is forgotten: a phrase is cut out of the text, or the entry goes."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import date
from functools import partial
from typing import Any
from uuid import UUID

from django.db import transaction
from django.db.models import Prefetch
from django.utils import timezone

from accounts.actor import Actor
from accounts.domain.events import record_events
from accounts.scopes import Right
from memoryhub.common.errors import ValidationFailed
from memoryhub.common.ids import typed_id
from memoryhub.common.text import excerpt
from memoryhub.common.times import format_time, monday_of, parse_date
from spaces.domain.access import access_rows, access_space
from spaces.domain.arriving import Fields, Shape, arrive, versions_of, written_by
from spaces.domain.checks import check_visible
from spaces.domain.journal import (
    ITEM_LENGTH,
    KINDS,
    LISTS,
    SUMMARY_LENGTH,
    Log,
    Ref,
    access_entry,
    check_log,
    state,
)
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
from spaces.domain.phrases import cut_out, holders, texts_in
from spaces.models import JournalEntry, JournalVersion, Space

OLDEST_FIRST = Prefetch("versions", queryset=JournalVersion.objects.order_by("version"))
REWRITTEN = ("summary", *LISTS, "version", "written_by", "updated_at")


def find(actor: Actor, selection: Selection) -> list[Hit]:
    rows = JournalEntry.objects.visible_to(actor)
    held = holders(rows.inside(selection.space), selection.query, state)
    named = access_rows(actor, rows, selection.ids, "journal entry", right=Right.WRITE)
    hits = {v.entry_id: Hit(v.entry_id, text, earlier=True) for v, text in _earlier(actor, selection)}
    hits |= {entry.id: Hit(entry.id, text) for entry, text in held}
    hits |= {entry.id: Hit(entry.id, _sample(entry)) for entry in named}
    return list(hits.values())


def _earlier(actor: Actor, selection: Selection) -> Iterator[tuple[JournalVersion, str]]:
    entries = JournalEntry.objects.visible_to(actor).inside(selection.space)
    versions = JournalVersion.objects.filter(entry__in=entries)
    return holders(versions, selection.query, lambda version: version.data)


def _sample(entry: JournalEntry) -> str:
    return excerpt(" ".join(text for text in texts_in(list(state(entry).values())) if text), SAMPLE)


def erase(actor: Actor, selection: Selection, hits: Sequence[Hit]) -> Forgotten:
    """Entries named by id always go whole."""
    spared = {hit.id for hit in hits if selection.redact and hit.id not in selection.ids}
    whole = {hit.id for hit in hits if not hit.earlier} - spared
    redacted = _redact(actor, selection, spared)
    deleted = _delete(actor, whole)
    staying = {hit.id for hit in hits if hit.earlier} - spared
    return Forgotten(deleted, redacted, _erase_earlier(actor, selection, staying))


def redact_entry(
    actor: Actor, day: date, phrase: str, *, kind: str = "day", space: Ref = None
) -> JournalEntry:
    """Cut a phrase out of one entry and its earlier versions, for good."""
    within = access_space(actor, space, right=Right.WRITE)
    check_visible(phrase, "phrase")
    entry = access_entry(actor, day, kind=kind, space=within.id)
    with transaction.atomic():
        if not _redact(actor, Selection(within, query=phrase), {entry.id}):
            raise ValidationFailed({"phrase": ["Is in no version of this entry."]})
    entry.refresh_from_db()
    return entry


def _redact(actor: Actor, selection: Selection, ids: set[UUID]) -> int:
    """Cut the phrase out of the entries and of their earlier versions: how many entries had it."""
    rows = JournalEntry.objects.filter(account_id=actor.account_id, id__in=ids)
    entries = list(rows.order_by("id").select_for_update())
    changed = {version.entry_id for version in _cut_earlier(actor, selection, ids)} if entries else set()
    changed |= {entry.id for entry in entries if _rewrite(actor, entry, _cut(selection.query, state(entry)))}
    _tell(actor, "journal.redacted", {entry.id: entry.space_id for entry in entries if entry.id in changed})
    return len(changed)


def _cut_earlier(actor: Actor, selection: Selection, ids: set[UUID]) -> Iterator[JournalVersion]:
    for version, _ in _earlier(actor, selection):
        if version.entry_id in ids:
            version.data = _cut(selection.query, version.data)
            version.save(update_fields=["data"])
            yield version


def _rewrite(actor: Actor, entry: JournalEntry, log: Mapping[str, Any]) -> bool:
    """A new version, of which no earlier one is kept."""
    if log == state(entry):
        return False
    for name, value in log.items():
        setattr(entry, name, value)
    entry.version += 1
    entry.written_by, entry.updated_at = actor.key, timezone.now()
    entry.save(update_fields=REWRITTEN)
    return True


def _cut(phrase: str, log: Mapping[str, Any]) -> dict[str, Any]:
    lists = {name: [cut_out(phrase, item, ITEM_LENGTH) for item in log[name]] for name in LISTS}
    return {"summary": cut_out(phrase, log["summary"], SUMMARY_LENGTH), **lists}


def _delete(actor: Actor, ids: set[UUID]) -> int:
    rows = JournalEntry.objects.filter(account_id=actor.account_id, id__in=ids)
    spaces = dict(rows.order_by("id").select_for_update().values_list("id", "space_id"))
    rows.delete()
    _tell(actor, "journal.forgotten", spaces)
    return len(spaces)


def _erase_earlier(actor: Actor, selection: Selection, staying: set[UUID]) -> int:
    versions = [v for v, _ in _earlier(actor, selection) if v.entry_id in staying] if staying else []
    ids = [version.id for version in versions]
    JournalVersion.objects.filter(account_id=actor.account_id, id__in=ids).delete()
    _tell(actor, "journal.written", {version.entry_id: selection.space.id for version in versions})
    return len(versions)


def _tell(actor: Actor, type: str, spaces: Mapping[UUID, UUID]) -> None:
    record_events(actor, type, "journal", {typed_id("jrn", id): space for id, space in spaces.items()})


def export(actor: Actor, space: Space | None) -> Iterator[Row]:
    if space is not None:
        rows = JournalEntry.objects.visible_to(actor).inside(space).prefetch_related(OLDEST_FIRST)
        yield from map(_row, in_batches(rows))


def _row(entry: JournalEntry) -> Row:
    return {**tell(entry), "versions": versions_of(entry)}


def tell(entry: JournalEntry) -> Row:
    return {
        "id": typed_id("jrn", entry.id),
        "kind": entry.kind,
        "date": entry.date.isoformat(),
        **state(entry),
        "version": entry.version,
        "written_by": entry.written_by,
        "created_at": format_time(entry.created_at),
        "updated_at": format_time(entry.updated_at),
    }


def read(arrival: Arrival, row: Fields) -> JournalEntry:
    kind, day = row.one_of("kind", KINDS), parse_date(row.text("date"), "date")
    said = Log(row.text("summary", ""), **{name: row.texts(name) for name in LISTS})
    check_log(said)
    return JournalEntry(
        space=arrival.space,
        kind=kind,
        date=monday_of(day) if kind == "week" else day,
        summary=said.summary,
        **{name: getattr(said, name) for name in LISTS},
        version=row.whole("version", 1, least=1),
        written_by=written_by(row),
        created_at=row.moment("created_at", arrival.now),
        updated_at=row.moment("updated_at", arrival.now),
    )


def standing(arrival: Arrival, entries: Sequence[JournalEntry]) -> Iterable[JournalEntry]:
    assert arrival.space is not None
    return JournalEntry.objects.inside(arrival.space).filter(date__in={entry.date for entry in entries})


SHAPE = Shape(
    prefix="jrn",
    model=JournalEntry,
    read=read,
    tell=tell,
    place=lambda entry: (entry.kind, entry.date),
    standing=standing,
    stated=("summary", *LISTS),
    event=("journal.written", "journal"),
    state=state,
    version=JournalVersion,
    owner="entry",
)

JOURNAL = register_kind(
    Kind(
        prefix="jrn",
        model_label="spaces.JournalEntry",
        export=export,
        forgetting=Forgetting(scope="journal", find=find, erase=erase),
        kept=(Kept("spaces.JournalEntry", ("summary", *LISTS)), Kept("spaces.JournalVersion", ("data",))),
        arrive=partial(arrive, SHAPE),
    )
)
