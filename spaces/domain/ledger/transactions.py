"""Transactions: recorded once, never changed, voided when they were wrong."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from django.db import transaction
from django.db.models import Q
from django.utils import timezone

from accounts.actor import Actor
from accounts.domain.events import record_event
from accounts.scopes import Right
from memoryhub.common.errors import NotFound, ValidationFailed
from memoryhub.common.ids import parse_id, typed_id
from memoryhub.common.paging import Page, page_of
from memoryhub.common.times import parse_date, zone
from spaces.domain.access import require_right
from spaces.domain.ledger.fields import as_amount, as_currency, as_path, as_text
from spaces.domain.ledger.places import reading_space, writing_space
from spaces.domain.ledger.summing import month_of
from spaces.models import Transaction
from spaces.models.ledger import TYPES, TransactionQuerySet

NEWEST_FIRST = ("-date", "-created_at", "-id")


@dataclass(frozen=True)
class Entry:
    """A transaction as its writer sends it. Without a date it is of today in the space's zone."""

    type: str
    item: str
    amount: str
    currency: str
    date: str = ""
    category: str = ""
    merchant: str = ""
    payment_method: str = ""
    note: str = ""
    path: str = ""


@dataclass(frozen=True)
class Recorded:
    transaction: Transaction
    warnings: list[str] = field(default_factory=list)


def record_transaction(actor: Actor, entry: Entry) -> Recorded:
    fields = _cleaned(entry)
    space, warnings = writing_space(actor, fields["path"])
    now = timezone.now()
    row = Transaction(
        account_id=actor.account_id,
        space=space,
        agent=actor.attribution.agent,
        written_by=actor.key,
        created_at=now,
        **{**fields, "date": fields["date"] or now.astimezone(zone(space.time_zone)).date()},
    )
    with transaction.atomic():
        twin = _twin(row)
        row.save(force_insert=True)
        _tell(actor, "ledger.recorded", row)
    if twin is not None:
        warnings.append(f"possible_duplicate: {typed_id('txn', twin.id)} says the same; void one if it is.")
    return Recorded(row, warnings)


def access_transaction(actor: Actor, id: str) -> Transaction:
    return _found(Transaction.objects.visible_to(actor), id)


def list_transactions(
    actor: Actor,
    *,
    month: str = "",
    type: str = "",
    category: str = "",
    currency: str = "",
    path: str = "",
    voided: bool = False,
    size: int = 50,
    cursor: str | None = None,
) -> Page[Transaction]:
    """Of the space, or of the project that the path names: the latest date first. `voided` ones are left out unless
    they are asked for too."""
    space = reading_space(actor, path)
    rows = Transaction.objects.visible_to(actor).inside(space)
    filters = {"month": month, "type": type, "category": category, "currency": currency, "path": path}
    return page_of(
        (rows if voided else rows.standing()).filter(*_wanted(filters)),
        token=cursor,
        size=size,
        field="cursor",
        actor_key=actor.key,
        filters={"list": "ledger", "space": space.id, "voided": voided, **filters},
        order=NEWEST_FIRST,
    )


@transaction.atomic
def void_transaction(actor: Actor, id: str) -> Transaction:
    """It stays in the list of what was recorded, and counts no more. Voiding it again changes nothing."""
    rows = Transaction.objects.visible_to(actor).select_related("space")
    row = _found(rows.select_for_update(of=("self",), no_key=True), id)
    require_right(actor, row.space, Right.WRITE)
    if row.voided_at is None:
        row.voided_at, row.voided_by = timezone.now(), actor.key
        row.save(update_fields=["voided_at", "voided_by"])
        _tell(actor, "ledger.voided", row)
    return row


def _cleaned(entry: Entry) -> dict[str, Any]:
    """Every fault is told at once."""
    readers: dict[str, Callable[[], Any]] = {
        "type": lambda: _type(entry.type),
        "item": lambda: as_text("item", entry.item, 500, required=True),
        "amount": lambda: as_amount(entry.amount),
        "currency": lambda: as_currency(entry.currency),
        "date": lambda: parse_date(entry.date.strip(), "date") if entry.date.strip() else None,
        "category": lambda: as_text("category", entry.category, 120).lower(),
        "merchant": lambda: as_text("merchant", entry.merchant, 200),
        "payment_method": lambda: as_text("payment_method", entry.payment_method, 120),
        "note": lambda: as_text("note", entry.note, 2000),
        "path": lambda: as_path(entry.path),
    }
    fields, faults = dict[str, Any](), dict[str, list[str]]()
    for name, read in readers.items():
        try:
            fields[name] = read()
        except ValidationFailed as fault:
            faults |= fault.fields
    if faults:
        raise ValidationFailed(faults)
    return fields


def _type(text: str) -> str:
    if text not in TYPES:
        raise ValidationFailed({"type": [f"Must be one of {', '.join(TYPES)}."]})
    return text


def _wanted(filters: dict[str, str]) -> list[Q]:
    wanted = []
    if filters["month"]:
        month = month_of(filters["month"])
        wanted.append(Q(date__gte=month.first, date__lt=month.after))
    if filters["type"]:
        wanted.append(Q(type=_type(filters["type"])))
    if filters["category"]:
        wanted.append(Q(category=filters["category"].strip().lower()))
    if filters["currency"]:
        wanted.append(Q(currency=as_currency(filters["currency"])))
    if path := as_path(filters["path"].rstrip("/")):
        wanted.append(Q(path__iexact=path) | Q(path__istartswith=f"{path}/"))
    return wanted


def _twin(row: Transaction) -> Transaction | None:
    """One of the same day that says the same: perhaps the same call, sent again."""
    said = ("type", "item", "amount", "currency", "date", "merchant")
    same = Transaction.objects.standing().filter(account_id=row.account_id, space=row.space)
    return same.filter(**{name: getattr(row, name) for name in said}).order_by("-created_at", "-id").first()


def _found(rows: TransactionQuerySet, id: str) -> Transaction:
    row = rows.filter(id=parse_id("txn", id)).first()
    if row is None:
        raise NotFound("transaction")
    return row


def _tell(actor: Actor, event: str, row: Transaction) -> None:
    record_event(actor, event, "transaction", typed_id("txn", row.id), space_id=row.space_id)
