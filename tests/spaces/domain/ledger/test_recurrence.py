from datetime import UTC, datetime
from zoneinfo import ZoneInfo

import pytest

from memoryhub.common.errors import ValidationFailed
from spaces.domain.ledger.recurrence import as_rule, check_recurs, next_time, wall_clock

ZURICH, NEW_YORK = ZoneInfo("Europe/Zurich"), ZoneInfo("America/New_York")


def times(rule: str, first: datetime, place: ZoneInfo = ZURICH, count: int = 4) -> list[str]:
    """As the clocks there show them."""
    start, found, after = wall_clock(first, place), list[str](), first
    while len(found) < count and (following := next_time(as_rule(rule), start, after, place)):
        found.append(following.astimezone(place).isoformat(timespec="minutes"))
        after = following
    return found


@pytest.mark.parametrize(
    ("rule", "found"),
    [
        ("daily", ["2026-01-31T09:00+01:00", "2026-02-01T09:00+01:00"]),
        ("RRULE:FREQ=MONTHLY;BYMONTHDAY=31", ["2026-01-31T09:00+01:00", "2026-03-31T09:00+02:00"]),
        ("freq=monthly", ["2026-03-30T09:00+02:00", "2026-04-30T09:00+02:00"]),
        ("FREQ=MONTHLY;BYDAY=-1FR", ["2026-02-27T09:00+01:00", "2026-03-27T09:00+01:00"]),
        ("weekdays", ["2026-02-02T09:00+01:00", "2026-02-03T09:00+01:00"]),
        ("FREQ=WEEKLY;INTERVAL=2", ["2026-02-13T09:00+01:00", "2026-02-27T09:00+01:00"]),
        ("FREQ=DAILY;COUNT=2", ["2026-01-31T09:00+01:00"]),
        ("FREQ=DAILY;UNTIL=20260131", ["2026-01-31T09:00+01:00"]),
        ("FREQ=DAILY;UNTIL=20260131T080000Z", ["2026-01-31T09:00+01:00"]),
        ("FREQ=DAILY;UNTIL=20260131T075959Z", []),
        ("FREQ=DAILY;UNTIL=99991231", ["2026-01-31T09:00+01:00", "2026-02-01T09:00+01:00"]),
    ],
)
def test_the_next_times_are_those_of_the_rule(rule: str, found: list[str]) -> None:
    assert times(rule, datetime(2026, 1, 30, 8, tzinfo=UTC), count=2) == found


def test_nine_stays_nine_when_the_clocks_change() -> None:
    found = times("daily", datetime(2026, 3, 28, 8, tzinfo=UTC), count=2)
    assert found == ["2026-03-29T09:00+02:00", "2026-03-30T09:00+02:00"]


def test_a_time_that_is_skipped_comes_later_and_the_next_as_ever() -> None:
    found = times("daily", datetime(2026, 3, 7, 7, 30, tzinfo=UTC), NEW_YORK, count=2)
    assert found == ["2026-03-08T03:30-04:00", "2026-03-09T02:30-04:00"]


def test_of_a_time_that_comes_twice_it_is_the_first() -> None:
    (found,) = times("daily", datetime(2026, 10, 31, 5, 30, tzinfo=UTC), NEW_YORK, count=1)
    assert found == "2026-11-01T01:30-04:00"


def test_leap_days_recur_with_leap_years() -> None:
    found = times("yearly", datetime(2028, 2, 29, 12, tzinfo=UTC), count=2)
    assert [time[:10] for time in found] == ["2032-02-29", "2036-02-29"]


@pytest.mark.parametrize(
    "rule",
    [
        "hourly",
        "FREQ=HOURLY",
        "FREQ=DAILY;BYHOUR=1,2,3",
        "FREQ=SECONDLY",
        "",
        "often",
        "FREQ=",
        "INTERVAL=2",
        "FREQ=DAILY;FREQ=WEEKLY",
        "FREQ=DAILY;INTERVAL=0",
        "FREQ=DAILY;INTERVAL=-1",
        "FREQ=DAILY;COUNT=0",
        "FREQ=DAILY;COUNT=9999",
        "FREQ=DAILY;COUNT=2;UNTIL=20270101",
        "FREQ=DAILY;UNTIL=soon",
        "FREQ=DAILY;UNTIL=20261332",
        "FREQ=WEEKLY;BYDAY=QQ",
        "FREQ=DAILY\nDTSTART:20260101",
        "FREQ=DAILY;X=1",
        "FREQ=MONTHLY;BYMONTHDAY=" + "1," * 100,
    ],
)
def test_what_is_no_rule_or_too_much_of_one_is_refused(rule: str) -> None:
    due = datetime(2026, 1, 30, 8, tzinfo=UTC)
    with pytest.raises(ValidationFailed) as caught:
        check_recurs(as_rule(rule), due, ZURICH)
    assert list(caught.value.fields) == ["recurrence"]


@pytest.mark.parametrize(
    "rule",
    [
        "FREQ=DAILY;COUNT=1",
        "FREQ=DAILY;BYMONTH=2;BYMONTHDAY=30",
        "FREQ=MONTHLY;BYDAY=MO;BYSETPOS=6",
        "FREQ=DAILY;UNTIL=2020",
        "FREQ=YEARLY;INTERVAL=1000",
    ],
)
def test_what_never_comes_again_is_refused(rule: str) -> None:
    with pytest.raises(ValidationFailed):
        check_recurs(as_rule(rule), datetime(2026, 1, 30, 8, tzinfo=UTC), ZURICH)
