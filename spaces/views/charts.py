"""Bars of months, as the numbers of an SVG: what came in, and beside it what was spent."""

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal

from django.utils import formats
from django.utils.translation import gettext as _

from spaces.domain.ledger.fields import amount_text
from spaces.domain.ledger.summing import Month, Sums

WIDTH, HEIGHT, FOOT = 480, 120, 2
BAR = 13
GAP = 2


@dataclass(frozen=True)
class Bar:
    """One month: two bars that stand on the line, and what they say."""

    month: str
    left: int
    width: int
    earned_x: int
    earned_y: int
    earned: int
    spent_x: int
    spent_y: int
    spent: int
    name: str
    told: str
    is_chosen: bool


@dataclass(frozen=True)
class Chart:
    bars: list[Bar]
    label: str
    base: int = HEIGHT
    width: int = WIDTH
    height: int = HEIGHT + FOOT
    bar: int = BAR


def chart_of(code: str, months: Sequence[tuple[Month, Sums]], chosen: Month) -> Chart:
    most = max((max(_earned(sums), sums.by_type["expense"]) for _m, sums in months), default=Decimal(0))
    step = WIDTH // len(months)
    bars = [
        _bar(code, place * step, step, month, sums, most, chosen)
        for place, (month, sums) in enumerate(months)
    ]
    return Chart(bars, label=_("%(code)s by month: what came in and what was spent") % {"code": code})


def _bar(code: str, x: int, step: int, month: Month, sums: Sums, most: Decimal, chosen: Month) -> Bar:
    spent, earned = _height(sums.by_type["expense"], most), _height(_earned(sums), most)
    start = x + (step - 2 * BAR - GAP) // 2
    told = _("%(month)s: %(earned)s in, %(spent)s out") % {
        "month": formats.date_format(month.first, "F Y"),
        "earned": f"{amount_text(_earned(sums))} {code}",
        "spent": f"{amount_text(sums.by_type['expense'])} {code}",
    }
    return Bar(
        month=str(month),
        left=x,
        width=step,
        earned_x=start,
        earned_y=HEIGHT - earned,
        earned=earned,
        spent_x=start + BAR + GAP,
        spent_y=HEIGHT - spent,
        spent=spent,
        name=formats.date_format(month.first, "M"),
        told=told,
        is_chosen=month == chosen,
    )


def _earned(sums: Sums) -> Decimal:
    return sums.by_type["income"] + sums.by_type["refund"]


def _height(amount: Decimal, most: Decimal) -> int:
    """Anything at all is to be seen."""
    return max(2, round(amount / most * (HEIGHT - 6))) if amount else 0
