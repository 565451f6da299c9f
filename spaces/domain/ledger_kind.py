"""How the ledger leaves and arrives: transactions and reminders in one file, told apart by their ids."""

from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any

from accounts.actor import Actor
from memoryhub.common.ids import typed_id
from memoryhub.common.times import format_time, parse_date, parse_time, zone
from spaces.domain import retold
from spaces.domain.arriving import UTC, Fields, Shape, arrive, writer, written_by
from spaces.domain.due import due_in
from spaces.domain.kinds import (
    Arrival,
    Arriving,
    Kept,
    Kind,
    Outcome,
    Row,
    RowRefused,
    in_batches,
    nothing,
    register_kind,
)
from spaces.domain.ledger import due_text
from spaces.domain.ledger.fields import amount_text, as_amount, as_currency, as_path, as_text
from spaces.domain.ledger.recurrence import as_rule, next_time, wall_clock
from spaces.domain.whole import erase_rows
from spaces.models import Reminder, Space, Transaction
from spaces.models.ledger import TYPES

LENGTHS = {"category": 120, "merchant": 200, "payment_method": 120, "note": 2000, "agent": 200}


def export(actor: Actor, space: Space | None) -> Iterator[Row]:
    if space is not None:
        yield from map(tell_transaction, in_batches(Transaction.objects.visible_to(actor).inside(space)))
        yield from map(tell_reminder, in_batches(Reminder.objects.visible_to(actor).inside(space)))


def tell_transaction(row: Transaction) -> Row:
    said = ("type", "item", "currency", "category", "merchant", "payment_method", "note", "path", "agent")
    return {
        "id": typed_id("txn", row.id),
        **{name: getattr(row, name) for name in said},
        "amount": amount_text(row.amount),
        "date": row.date.isoformat(),
        "written_by": row.written_by,
        "created_at": format_time(row.created_at),
        "voided_at": row.voided_at and format_time(row.voided_at),
        "voided_by": row.voided_by,
    }


def tell_reminder(row: Reminder) -> Row:
    return {
        "id": typed_id("rmd", row.id),
        **{
            name: getattr(row, name)
            for name in ("content", "recurrence", "path", "agent", "completions", "version")
        },
        "due_at": due_text(row),
        "starts_at": row.starts_at.replace(tzinfo=None).isoformat(),
        "completed_at": row.completed_at and format_time(row.completed_at),
        "last_completed_at": row.last_completed_at and format_time(row.last_completed_at),
        "written_by": row.written_by,
        "created_at": format_time(row.created_at),
        "updated_at": format_time(row.updated_at),
    }


def read_transaction(arrival: Arrival, row: Fields) -> Transaction:
    return Transaction(
        space=arrival.space,
        type=row.one_of("type", TYPES),
        item=as_text("item", row.text("item"), 500, required=True),
        amount=as_amount(row.text("amount")),
        currency=as_currency(row.text("currency")),
        date=parse_date(row.text("date"), "date"),
        **{name: as_text(name, row.text(name, ""), most) for name, most in LENGTHS.items()},
        path=as_path(row.text("path", "")),
        written_by=written_by(row),
        created_at=row.moment("created_at", arrival.now),
        voided_at=row.moment_or_none("voided_at"),
        voided_by=writer(row, "voided_by"),
    )


def read_reminder(arrival: Arrival, row: Fields) -> Reminder:
    assert arrival.space is not None
    due = due_in(arrival.space, row.text("due_at"))
    place = zone(arrival.space.time_zone)
    rule, begins = row.text("recurrence", ""), row.text("starts_at", "")
    first = parse_time(begins, UTC, field="starts_at") if begins else wall_clock(due.at, place)
    if rule:
        rule = as_rule(rule)
        next_time(rule, first, due.at, place)  # one that can't be read is refused
    return Reminder(
        space=arrival.space,
        content=as_text("content", row.text("content"), 2000, required=True),
        due_at=due.at,
        due_on=due.date,
        recurrence=rule,
        starts_at=first,
        completed_at=row.moment_or_none("completed_at"),
        completions=row.whole("completions", 0),
        last_completed_at=row.moment_or_none("last_completed_at"),
        path=as_path(row.text("path", "")),
        agent=row.label("agent", LENGTHS["agent"]),
        version=row.whole("version", 1, least=1),
        written_by=written_by(row),
        created_at=row.moment("created_at", arrival.now),
        updated_at=row.moment("updated_at", arrival.now),
    )


TRANSACTIONS = Shape(
    prefix="txn",
    model=Transaction,
    read=read_transaction,
    tell=tell_transaction,
    place=lambda row: None,
    standing=lambda arrival, rows: (),
    stated=("item",),
    event=("ledger.recorded", "transaction"),
    links=("voided_by",),
    newer=lambda one, stored: bool(one.voided_at) and not stored.voided_at,
)
REMINDERS = Shape(
    prefix="rmd",
    model=Reminder,
    read=read_reminder,
    tell=tell_reminder,
    place=lambda row: None,
    standing=lambda arrival, rows: (),
    stated=("content",),
    event=("ledger.reminder_set", "reminder"),
)


def take(arrival: Arrival, rows: Sequence[Row]) -> list[Outcome]:
    """Each row as what its id says that it is."""
    ways: dict[bool, Arriving] = {False: partial(arrive, TRANSACTIONS), True: partial(arrive, REMINDERS)}
    outcomes: dict[int, Outcome] = {}
    for reminders, way in ways.items():
        places = [place for place, row in enumerate(rows) if _is_reminder(row) == reminders]
        try:
            found = way(arrival, [rows[place] for place in places])
        except RowRefused as fault:
            raise RowRefused(places[fault.index], fault.error) from None
        outcomes.update(zip(places, found, strict=True))
    return [outcomes[place] for place in range(len(rows))]


def _is_reminder(row: Any) -> bool:
    return isinstance(row, dict) and str(row.get("id", "")).startswith("rmd_")


LEDGER = register_kind(
    Kind(
        prefix="txn",
        model_label="spaces.Transaction",
        export=export,
        forgetting=retold.OF_THE_LEDGER,
        arrive=take,
        kept=(
            Kept(
                "spaces.Transaction",
                ("item", "category", "merchant", "payment_method", "note", "path", "agent"),
            ),
        ),
        whole=partial(erase_rows, Transaction, "txn", ("ledger.forgotten", "transaction")),
    )
)
DUE = register_kind(
    Kind(
        prefix="rmd",
        model_label="spaces.Reminder",
        export=nothing,
        beside="txn",
        kept=(Kept("spaces.Reminder", ("content", "path", "agent")),),
        whole=partial(erase_rows, Reminder, "rmd", ("ledger.forgotten", "reminder")),
    )
)
