"""The ledger: transactions, which are summed by month and currency, and reminders."""

from spaces.domain.ledger.reminders import (
    complete_reminder,
    due_reminders,
    due_text,
    list_reminders,
    set_reminder,
)
from spaces.domain.ledger.summing import Month, month_of, summarise_month, summarise_months
from spaces.domain.ledger.transactions import (
    Entry,
    Recorded,
    access_transaction,
    list_transactions,
    record_transaction,
    void_transaction,
)

__all__ = [
    "Entry",
    "Month",
    "Recorded",
    "access_transaction",
    "complete_reminder",
    "due_reminders",
    "due_text",
    "list_reminders",
    "list_transactions",
    "month_of",
    "record_transaction",
    "set_reminder",
    "summarise_month",
    "summarise_months",
    "void_transaction",
]
