"""How summaries leave and arrive. A memory that is forgotten, or stays behind, is not among what they recorded."""

from collections.abc import Iterator, Sequence
from functools import partial
from uuid import UUID

from accounts.actor import Actor
from memoryhub.common.canonical import digest
from memoryhub.common.ids import typed_id
from memoryhub.common.secrets import marked
from memoryhub.common.times import format_time
from spaces.domain import retold
from spaces.domain.arriving import BATCH, Fields, Shape, arrive, redactions, written_by
from spaces.domain.kinds import Arrival, Kept, Kind, Row, in_batches, register_kind
from spaces.domain.memories.arriving import LOOSE_ENDS
from spaces.domain.summaries import ITEMS, TEXT_LENGTH, check_prose, items_among
from spaces.domain.whole import erase_rows
from spaces.models import Memory, Space, Summary, SummaryItem
from spaces.models.summaries import TRIGGERS

RECORDED = "recorded_memories"
"""The memories that an arriving summary recorded, by the file's ids, until they are all here."""


def export(actor: Actor, space: Space | None) -> Iterator[Row]:
    rows = Summary.objects.filter(account_id=actor.account_id, space=space)
    items = items_among(Memory.objects.leaving_with(actor))
    yield from map(_row, in_batches(rows.prefetch_related(items)))


def _row(summary: Summary) -> Row:
    return {**tell(summary), "memories": [typed_id("mem", item.memory_id) for item in summary.items.all()]}


def tell(summary: Summary) -> Row:
    return {
        "id": typed_id("sum", summary.id),
        "agent": summary.agent,
        "session": summary.session,
        "trigger": summary.trigger,
        "text": summary.text,
        "redactions": summary.redactions,
        "written_by": summary.written_by,
        "created_at": format_time(summary.created_at),
    }


def read(arrival: Arrival, row: Fields) -> Summary:
    summary = Summary(
        space=arrival.space,
        agent=row.label("agent", 200),
        session=row.label("session", 200),
        trigger=row.one_of("trigger", ("manual", *TRIGGERS)),
        text=row.label("text", TEXT_LENGTH),
        redactions=redactions(row),
        written_by=written_by(row),
        created_at=row.moment("created_at", arrival.now),
        digest=bytes.fromhex(
            digest(["import", row.text("id")])
        ),  # nobody says it again: who said it, did so elsewhere
    )
    check_prose({"text": summary.text})
    recorded = row.ids("memories", "mem")
    if len(recorded) > ITEMS:
        raise row.refused("memories", f"Must be at most {ITEMS}.")
    summary.__dict__[RECORDED] = recorded
    return summary


def placed(arrival: Arrival, summaries: Sequence[Summary]) -> None:
    """They are connected with what they recorded once that is here."""
    recorded = {summary.id: summary.__dict__.pop(RECORDED, []) for summary in summaries}
    if RECORDED not in arrival.gathered:
        arrival.later.append(partial(_connect, arrival))
    arrival.gathered.setdefault(RECORDED, {}).update(recorded)


def _connect(arrival: Arrival) -> None:
    recorded: dict[UUID, list[UUID]] = arrival.gathered[RECORDED]
    named = {id for ids in recorded.values() for id in ids}
    places = {id: (arrival.id(id), id) for id in named}
    here = Memory.objects.filter(account_id=arrival.account_id, space=arrival.space)
    there = set(
        here.filter(id__in=[id for two in places.values() for id in two]).values_list("id", flat=True)
    )
    items: list[SummaryItem] = []
    for summary, ids in recorded.items():
        found = [next((place for place in places[id] if place in there), None) for id in ids]
        arrival.notes[LOOSE_ENDS] += found.count(None)
        items += [
            SummaryItem(account_id=arrival.account_id, summary_id=summary, memory_id=id, position=position)
            for position, id in enumerate(id for id in found if id)
        ]
    SummaryItem.objects.bulk_create(items, batch_size=BATCH)


def save_cut(summary: Summary, fields: list[str]) -> None:
    summary.redactions = marked(summary.text)
    summary.save(update_fields=[*fields, "redactions"])


SHAPE = Shape(
    prefix="sum",
    model=Summary,
    read=read,
    tell=tell,
    place=lambda summary: None,
    standing=lambda arrival, summaries: (),
    stated=("text",),
    event=("summary.recorded", "summary"),
    placed=placed,
)

SUMMARIES = register_kind(
    Kind(
        prefix="sum",
        model_label="spaces.Summary",
        export=export,
        forgetting=retold.OF_SUMMARIES,
        whole=partial(erase_rows, Summary, "sum", ("summary.deleted", "summary")),
        arrive=partial(arrive, SHAPE),
        kept=(Kept("spaces.Summary", ("text", "agent", "session"), save=save_cut),),
    )
)
