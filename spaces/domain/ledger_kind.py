"""How the ledger leaves: transactions and reminders in one file, told apart by their ids."""

from collections.abc import Iterator

from accounts.actor import Actor
from memoryhub.common.ids import typed_id
from memoryhub.common.times import format_time
from spaces.domain.kinds import Kind, Row, in_batches, register_kind
from spaces.domain.ledger import due_text
from spaces.domain.ledger.fields import amount_text
from spaces.models import Reminder, Space, Transaction


def export(actor: Actor, space: Space | None) -> Iterator[Row]:
    if space is not None:
        yield from map(_transaction, in_batches(Transaction.objects.visible_to(actor).inside(space)))
        yield from map(_reminder, in_batches(Reminder.objects.visible_to(actor).inside(space)))


def _transaction(row: Transaction) -> Row:
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


def _reminder(row: Reminder) -> Row:
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


LEDGER = register_kind(Kind(prefix="txn", model_label="spaces.Transaction", export=export))
