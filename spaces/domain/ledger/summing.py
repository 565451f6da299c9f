"""Sums by month. Currencies are never mixed: each has sums of its own."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import date
from decimal import Decimal

from django.db.models import Count, Sum
from django.db.models.functions import TruncMonth
from django.utils import timezone

from accounts.actor import Actor
from memoryhub.common.errors import ValidationFailed
from memoryhub.common.times import FIRST_YEAR, LAST_YEAR, zone
from spaces.domain.ledger.places import reading_space
from spaces.models import Space, Transaction
from spaces.models.ledger import TYPES

MONTH = re.compile(r"([0-9]{4})-(0[1-9]|1[0-2])")
NOTHING = Decimal(0)


@dataclass(frozen=True)
class Month:
    year: int
    month: int

    @property
    def first(self) -> date:
        return date(self.year, self.month, 1)

    @property
    def after(self) -> date:
        return self.before(-1).first

    def before(self, months: int) -> "Month":
        index = self.year * 12 + self.month - 1 - months
        return Month(index // 12, index % 12 + 1)

    def __str__(self) -> str:
        return f"{self.year:04}-{self.month:02}"


@dataclass
class Sums:
    """Of one currency in one month. Transfers change no one's wealth, so that `net` leaves them aside."""

    by_type: dict[str, Decimal] = field(default_factory=lambda: dict.fromkeys(TYPES, NOTHING))
    by_category: dict[str, Decimal] = field(default_factory=dict)
    count: int = 0

    @property
    def net(self) -> Decimal:
        return self.by_type["income"] + self.by_type["refund"] - self.by_type["expense"]


def month_of(text: str, field: str = "month") -> Month:
    match = MONTH.fullmatch(text.strip())
    if match is None or not FIRST_YEAR <= int(match[1]) <= LAST_YEAR:
        raise ValidationFailed({field: ["Must be a month like 2026-08."]})
    return Month(int(match[1]), int(match[2]))


def this_month(space: Space) -> Month:
    today = timezone.now().astimezone(zone(space.time_zone)).date()
    return Month(today.year, today.month)


def summarise_month(actor: Actor, month: str = "", *, path: str = "") -> tuple[Month, dict[str, Sums]]:
    """The month (this one, in the space's zone, unless told) and currency → its sums. Expenses by category."""
    space = reading_space(actor, path)
    asked = month_of(month) if month else this_month(space)
    return asked, _sums(actor, space, [asked])[asked]


def summarise_months(actor: Actor, space: Space, last: Month, count: int) -> dict[Month, dict[str, Sums]]:
    """The last `count` months up to that one, oldest first."""
    return _sums(actor, space, [last.before(months) for months in reversed(range(count))])


def _sums(actor: Actor, space: Space, months: Sequence[Month]) -> dict[Month, dict[str, Sums]]:
    rows = Transaction.objects.visible_to(actor).inside(space).standing()
    within = rows.filter(date__gte=months[0].first, date__lt=months[-1].after)
    groups = within.annotate(month=TruncMonth("date")).values("month", "currency", "type", "category")
    sums: dict[Month, dict[str, Sums]] = {month: {} for month in months}
    for group in groups.annotate(total=Sum("amount"), n=Count("id")).order_by("currency", "category", "type"):
        month = Month(group["month"].year, group["month"].month)
        one = sums[month].setdefault(group["currency"], Sums())
        one.by_type[group["type"]] += group["total"]
        one.count += group["n"]
        if group["type"] == "expense":
            one.by_category[group["category"]] = (
                one.by_category.get(group["category"], NOTHING) + group["total"]
            )
    return sums
