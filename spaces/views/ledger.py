"""The ledger's page: the month in numbers, the last year as bars, what is due, and what was recorded."""

from dataclasses import dataclass

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST

from memoryhub.common.errors import HubError
from memoryhub.common.ids import typed_id
from memoryhub.web.forms import form_status, show_refusal
from spaces.domain import ledger as domain
from spaces.domain.ledger.fields import amount_text
from spaces.domain.ledger.summing import Month, Sums, this_month
from spaces.forms import ReminderForm, TransactionForm
from spaces.models import Reminder, Transaction
from spaces.views.charts import Chart, chart_of
from spaces.views.due import DueBadge, reminder_badge
from spaces.views.requests import SpaceRequest, space_view

MONTHS = 12


@dataclass(frozen=True)
class Row:
    id: str
    transaction: Transaction
    amount: str


@dataclass(frozen=True)
class Due:
    """`again` says how it recurs, in words where there are some."""

    id: str
    reminder: Reminder
    badge: DueBadge
    again: str


@dataclass(frozen=True)
class Currency:
    """Of the month: expenses by category, the largest first."""

    code: str
    expense: str
    income: str
    net: str
    chart: Chart
    categories: list[tuple[str, str]]


@space_view
def ledger(request: SpaceRequest) -> HttpResponse:
    month = _month(request)
    voided = request.GET.get("voided") == "1"
    page = domain.list_transactions(
        request.actor, month=str(month), voided=voided, cursor=request.GET.get("page")
    )
    reminders = domain.list_reminders(request.actor, size=20)
    context = {
        "month": month.first,
        "earlier": str(month.before(1)),
        "later": str(month.before(-1)) if month.first < this_month(request.space).first else "",
        "currencies": _currencies(request, month),
        "rows": [Row(typed_id("txn", row.id), row, amount_text(row.amount)) for row in page.items],
        "next_token": page.next_token,
        "voided": voided,
        "reminders": [
            Due(typed_id("rmd", row.id), row, reminder_badge(row, request.space), _again(row))
            for row in reminders.items
        ],
        "more_reminders": bool(reminders.next_token),
    }
    return render(request, "ledger/ledger.html", context)


@space_view
def new(request: SpaceRequest) -> HttpResponse:
    form = TransactionForm(request.POST or None, initial={"type": "expense"})
    if form.is_valid():
        try:
            done = domain.record_transaction(request.actor, domain.Entry(**form.cleaned_data))
        except HubError as error:
            show_refusal(form, error)
        else:
            for warning in done.warnings:
                messages.warning(request, warning)
            messages.success(request, _("Recorded."))
            return _back(request, f"?month={done.transaction.date:%Y-%m}")
    return render(request, "ledger/new.html", {"form": form}, status=form_status(form))


@space_view
def remind(request: SpaceRequest) -> HttpResponse:
    form = ReminderForm(request.POST or None)
    if form.is_valid():
        try:
            domain.set_reminder(request.actor, **form.cleaned_data)
        except HubError as error:
            show_refusal(form, error)
        else:
            messages.success(request, _("The reminder is set."))
            return _back(request)
    return render(request, "ledger/remind.html", {"form": form}, status=form_status(form))


@space_view
@require_POST
def void(request: SpaceRequest, transaction: str) -> HttpResponse:
    row = domain.void_transaction(request.actor, transaction)
    messages.success(request, _("Voided: it stays on record and counts no more."))
    return _back(request, f"?month={row.date:%Y-%m}")


@space_view
@require_POST
def complete(request: SpaceRequest, reminder: str) -> HttpResponse:
    row = domain.complete_reminder(request.actor, reminder)
    messages.success(request, _("Done.") if row.completed_at else _("Done. It will come again."))
    return _back(request)


def _again(reminder: Reminder) -> str:
    words = {
        "FREQ=DAILY": _("every day"),
        "FREQ=WEEKLY": _("every week"),
        "FREQ=MONTHLY": _("every month"),
        "FREQ=YEARLY": _("every year"),
        "FREQ=WEEKLY;BYDAY=MO,TU,WE,TH,FR": _("on weekdays"),
    }
    return words.get(reminder.recurrence, reminder.recurrence)


def _month(request: SpaceRequest) -> Month:
    """What is no month in the address is this one."""
    try:
        return domain.month_of(request.GET.get("month", ""))
    except HubError:
        return this_month(request.space)


def _currencies(request: SpaceRequest, month: Month) -> list[Currency]:
    """Each currency of the year up to that month."""
    months = domain.summarise_months(request.actor, request.space, month, MONTHS)
    codes = sorted({code for sums in months.values() for code in sums})
    return [_currency(code, month, months) for code in codes]


def _currency(code: str, month: Month, months: dict[Month, dict[str, Sums]]) -> Currency:
    sums = months[month].get(code, Sums())
    largest = sorted(sums.by_category.items(), key=lambda item: (-item[1], item[0]))
    return Currency(
        code=code,
        expense=amount_text(sums.by_type["expense"]),
        income=amount_text(sums.by_type["income"] + sums.by_type["refund"]),
        net=amount_text(sums.net),
        chart=chart_of(code, [(m, by_code.get(code, Sums())) for m, by_code in months.items()], month),
        categories=[(name or _("uncategorised"), amount_text(amount)) for name, amount in largest[:6]],
    )


def _back(request: SpaceRequest, query: str = "") -> HttpResponse:
    address = redirect("ledger", request.account_slug, request.space.slug)
    address["Location"] += query
    return address
