from datetime import UTC, date, datetime, timedelta, timezone
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from memoryhub.common.errors import ValidationFailed
from memoryhub.common.times import (
    Due,
    day_end,
    day_start,
    format_time,
    monday_of,
    parse_date,
    parse_due,
    parse_time,
    zone,
)

NEW_YORK = ZoneInfo("America/New_York")
BOGOTA = ZoneInfo("America/Bogota")
KIRITIMATI = ZoneInfo("Pacific/Kiritimati")
JERUSALEM = ZoneInfo("Asia/Jerusalem")
CAIRO = ZoneInfo("Africa/Cairo")
HAVANA = ZoneInfo("America/Havana")
ZONES = [ZoneInfo("UTC"), NEW_YORK, BOGOTA, KIRITIMATI, JERUSALEM, CAIRO, HAVANA, ZoneInfo("Asia/Kathmandu")]


def refusal(call: Any, *args: Any, **kwargs: Any) -> list[str]:
    with pytest.raises(ValidationFailed) as caught:
        call(*args, **kwargs)
    (messages,) = caught.value.fields.values()
    assert list(caught.value.fields) == ["starts_at"]
    return messages


@pytest.mark.parametrize(
    ("text", "moment"),
    [
        ("2026-08-08T14:30:00Z", datetime(2026, 8, 8, 14, 30, tzinfo=UTC)),
        ("2026-08-08t14:30:00z", datetime(2026, 8, 8, 14, 30, tzinfo=UTC)),
        ("2026-08-08 14:30Z", datetime(2026, 8, 8, 14, 30, tzinfo=UTC)),
        (" 2026-08-08T14:30:00Z\n", datetime(2026, 8, 8, 14, 30, tzinfo=UTC)),
        ("2026-08-08T14:30:00+02:00", datetime(2026, 8, 8, 12, 30, tzinfo=UTC)),
        ("2026-08-08T14:30:00-0530", datetime(2026, 8, 8, 20, 0, tzinfo=UTC)),
        ("2026-08-08T14:30:00+14", datetime(2026, 8, 8, 0, 30, tzinfo=UTC)),
        ("2026-08-08T14:30:00.5Z", datetime(2026, 8, 8, 14, 30, 0, 500_000, tzinfo=UTC)),
        ("2026-08-08T14:30:00.123456789Z", datetime(2026, 8, 8, 14, 30, 0, 123_456, tzinfo=UTC)),
        ("2026-08-08T14:30:00,25Z", datetime(2026, 8, 8, 14, 30, 0, 250_000, tzinfo=UTC)),
    ],
)
def test_a_time_with_an_offset_is_that_moment_in_every_zone(text: str, moment: datetime) -> None:
    for place in ZONES:
        assert parse_time(text, place, field="starts_at") == moment


def test_a_time_without_an_offset_is_in_the_zone() -> None:
    moment = parse_time("2026-05-27T18:00:00", JERUSALEM, field="starts_at")
    assert moment == datetime(2026, 5, 27, 15, 0, tzinfo=UTC)
    assert moment.tzinfo is UTC


def test_a_date_alone_is_the_first_moment_of_the_day_in_the_zone() -> None:
    assert parse_time("2026-08-08", BOGOTA, field="starts_at") == datetime(2026, 8, 8, 5, 0, tzinfo=UTC)


@pytest.mark.parametrize(
    ("text", "place"),
    [("2026-03-08T02:30", NEW_YORK), ("2026-04-24T00:30:00", CAIRO), ("2026-03-27T02:15:00.5", JERUSALEM)],
)
def test_a_local_time_that_the_clocks_skip_is_refused(text: str, place: ZoneInfo) -> None:
    (message,) = refusal(parse_time, text, place, field="starts_at")
    assert message == (
        f"Does not exist in the time zone {place.key}: its clocks skip it. "
        "Send it with an offset, like 2026-08-08T14:30:00+02:00."
    )


@pytest.mark.parametrize(("text", "place"), [("2026-11-01T01:30", NEW_YORK), ("2026-11-01T00:00:00", HAVANA)])
def test_a_local_time_that_the_clocks_show_twice_is_refused(text: str, place: ZoneInfo) -> None:
    (message,) = refusal(parse_time, text, place, field="starts_at")
    assert message == (
        f"Happens twice in the time zone {place.key}, as its clocks go back. "
        "Send it with an offset, like 2026-08-08T14:30:00+02:00."
    )


@pytest.mark.parametrize(
    ("text", "hour"),
    [
        ("2026-03-08T01:59:59", 6),
        ("2026-03-08T03:00:00", 7),
        ("2026-11-01T00:59:59", 4),
        ("2026-11-01T02:00:00", 7),
    ],
)
def test_the_times_around_a_change_of_clocks_are_accepted(text: str, hour: int) -> None:
    assert parse_time(text, NEW_YORK, field="starts_at").hour == hour


def test_a_doubled_time_with_an_offset_is_accepted() -> None:
    first = parse_time("2026-11-01T01:30:00-04:00", NEW_YORK, field="starts_at")
    second = parse_time("2026-11-01T01:30:00-05:00", NEW_YORK, field="starts_at")
    assert second - first == timedelta(hours=1)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "null",
        "tomorrow",
        "2026-W32-6",
        "2026W326",
        "2026-W32-6T14:30:00Z",
        "2026-220",
        "20260808",
        "20260808T143000Z",
        "2026-8-8T14:30",
        "2026-08",
        "2026-08-08T14",
        "2026-08-08T1430",
        "2026-08-08T14:30:00Z[Europe/Zurich]",
        "2026-08-08T14:30:00 +02:00",
        "2026-08-08T14:30:00+2",
        "2026-08-08T14:30:00+02:60",
        "2026-08-08T24:00:00Z",
        "2026-08-08T14:30:00Z\nmore",
        "12026-08-08T14:30:00Z",
        "+2026-08-08T14:30:00Z",
        "-2026-08-08T14:30:00Z",
        "２０２６-08-08T14:30:00Z",
        "08/08/2026",
        "1786199400",
    ],
)
def test_other_ways_to_write_a_time_are_refused(text: str) -> None:
    expected = "Must be a day like 2026-08-08, or a time like 2026-08-08T14:30 or 2026-08-08T14:30:00Z."
    assert refusal(parse_time, text, BOGOTA, field="starts_at") == [expected]
    assert refusal(parse_due, text, BOGOTA, "starts_at") == [expected]


@pytest.mark.parametrize(
    "text",
    [
        "2026-02-30T10:00Z",
        "2026-13-01T10:00Z",
        "2026-08-08T25:00Z",
        "2026-08-08T10:60Z",
        "2026-08-08T23:59:60Z",
        "2026-08-08T10:00+24:00",
    ],
)
def test_a_time_that_does_not_exist_is_refused(text: str) -> None:
    expected = "Is not a time that exists. Check day, hour, minute and offset."
    assert refusal(parse_time, text, BOGOTA, field="starts_at") == [expected]


@pytest.mark.parametrize("year", ["0000", "0001", "0999", "9999"])
def test_years_out_of_range_are_refused(year: str) -> None:
    expected = ["Must be in the years 1000 to 9998."]
    assert refusal(parse_time, f"{year}-12-31T23:59:59-12:00", BOGOTA, field="starts_at") == expected
    assert refusal(parse_time, f"{year}-01-01", BOGOTA, field="starts_at") == expected
    assert refusal(parse_date, f"{year}-01-01", "starts_at") == expected
    assert refusal(parse_due, f"{year}-12-31", BOGOTA, "starts_at") == expected


@pytest.mark.parametrize("place", ZONES)
@pytest.mark.parametrize(
    "text", ["1000-01-01T00:00:00+23:59", "9998-12-31T23:59:59-23:59", "1000-01-01", "9998-12-31"]
)
def test_every_accepted_time_can_be_shown_in_every_zone(text: str, place: ZoneInfo) -> None:
    for shown in ZONES:
        assert parse_time(text, place, field="starts_at").astimezone(shown).utcoffset() is not None
        assert parse_due(text, place, "starts_at").at.astimezone(shown).utcoffset() is not None


def test_a_date_is_exactly_year_month_day() -> None:
    assert parse_date("2028-02-29", "starts_at") == date(2028, 2, 29)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "2026-8-8",
        "20260808",
        "2026-W32-6",
        "2026-08-08T00:00",
        " 2026-08-08",
        "2026-08-08\n",
        "٢٠٢٦-08-08",
    ],
)
def test_another_form_of_a_date_is_refused(text: str) -> None:
    assert refusal(parse_date, text, "starts_at") == ["Must be a date like 2026-08-08."]


@pytest.mark.parametrize("text", ["2026-02-29", "2026-00-10", "2026-01-32"])
def test_a_day_that_does_not_exist_is_refused(text: str) -> None:
    assert refusal(parse_date, text, "starts_at") == ["Is not a day that exists. Check month and day."]


def test_due_on_a_date_is_not_overdue_during_that_day_in_its_zone() -> None:
    due = parse_due("2026-08-08", BOGOTA, "due_at")
    assert (due.date, due.date_only) == (date(2026, 8, 8), True)
    assert datetime(2026, 8, 8, 23, 59, 59, 999_999, tzinfo=BOGOTA) <= due.at
    assert due.at < datetime(2026, 8, 9, tzinfo=BOGOTA)


@pytest.mark.parametrize("place", ZONES)
def test_the_moment_of_a_due_date_is_on_that_date_in_its_zone(place: ZoneInfo) -> None:
    assert parse_due("2026-08-08", place, "due_at").at.astimezone(place).date() == date(2026, 8, 8)


def test_due_at_a_time_is_due_at_that_moment() -> None:
    due = parse_due("2026-08-08T14:30", BOGOTA, "due_at")
    assert due == Due(at=datetime(2026, 8, 8, 19, 30, tzinfo=UTC))
    assert not due.date_only


def test_a_due_date_keeps_its_day_when_the_zone_changes() -> None:
    due = parse_due("2026-08-08", BOGOTA, "due_at")
    assert due.date
    moved = Due.on(due.date, KIRITIMATI)
    assert moved.date == due.date
    assert due.at - moved.at == timedelta(hours=19)


def test_a_bound_of_a_day_includes_what_is_due_on_it_and_nothing_of_the_next() -> None:
    bound = parse_due("2026-08-08", BOGOTA, "due_before").at
    assert parse_due("2026-08-08", BOGOTA, "due_at").at <= bound
    assert parse_due("2026-08-08T23:59:59", BOGOTA, "due_at").at <= bound
    assert parse_due("2026-08-09T00:00:00", BOGOTA, "due_at").at > bound


def test_a_day_whose_midnight_is_skipped_begins_when_its_clocks_begin() -> None:
    assert day_start(date(2026, 4, 24), CAIRO).astimezone(CAIRO).hour == 1
    assert day_end(date(2026, 4, 23), CAIRO) < day_start(date(2026, 4, 24), CAIRO)


def test_a_day_whose_midnight_happens_twice_begins_at_the_first() -> None:
    length = day_end(date(2026, 11, 1), HAVANA) - day_start(date(2026, 11, 1), HAVANA)
    assert length == timedelta(hours=25) - timedelta(microseconds=1)


@given(st.dates(date(1000, 1, 1), date(9998, 12, 31)), st.sampled_from(ZONES))
def test_days_follow_each_other_without_gap_or_overlap(day: date, place: ZoneInfo) -> None:
    assert day_end(day, place) + timedelta(microseconds=1) == day_start(day + timedelta(days=1), place)
    assert day_start(day, place) < day_end(day, place)


@pytest.mark.parametrize(
    ("moment", "text"),
    [
        (datetime(2026, 8, 8, 14, 30, tzinfo=UTC), "2026-08-08T14:30:00Z"),
        (datetime(2026, 8, 8, 14, 30, tzinfo=timezone(timedelta(hours=2))), "2026-08-08T12:30:00Z"),
        (datetime(2026, 8, 8, 14, 30, 0, 1, tzinfo=UTC), "2026-08-08T14:30:00.000001Z"),
        (datetime(1000, 1, 1, tzinfo=UTC), "1000-01-01T00:00:00Z"),
    ],
)
def test_a_time_is_told_in_utc(moment: datetime, text: str) -> None:
    assert format_time(moment) == text


def test_a_time_without_a_zone_is_not_told() -> None:
    with pytest.raises(ValueError, match="without a zone"):
        format_time(datetime(2026, 8, 8))  # noqa: DTZ001


@given(st.datetimes(datetime(1000, 1, 2), datetime(9998, 12, 30)), st.sampled_from(ZONES))  # noqa: DTZ001
def test_a_told_time_reads_back_as_the_same(naive: datetime, place: ZoneInfo) -> None:
    moment = naive.replace(tzinfo=UTC)
    assert parse_time(format_time(moment), place, field="starts_at") == moment


@given(st.datetimes(datetime(1970, 1, 2), datetime(2037, 12, 30)), st.sampled_from(ZONES))  # noqa: DTZ001
def test_an_accepted_local_time_is_shown_as_it_was_sent(naive: datetime, place: ZoneInfo) -> None:
    try:
        moment = parse_time(naive.isoformat(), place, field="starts_at")
    except ValidationFailed:
        assume(False)
    assert moment.astimezone(place).replace(tzinfo=None) == naive


@pytest.mark.parametrize(
    "name", ["UTC", "Europe/Zurich", "America/Argentina/Buenos_Aires", "Pacific/Kiritimati"]
)
def test_a_zone_is_found_by_its_iana_name(name: str) -> None:
    assert zone(name).key == name


@pytest.mark.parametrize(
    "name",
    [
        "",
        "Mars/Olympus",
        "europe/zurich",
        "../etc/passwd",
        "/etc/localtime",
        "America",
        "localtime",
        "\0",
        "+02:00",
    ],
)
def test_an_unknown_zone_is_refused(name: str) -> None:
    with pytest.raises(ValidationFailed) as caught:
        zone(name)
    assert caught.value.fields == {"timezone": ["Must be an IANA time zone like Europe/Zurich or UTC."]}


@pytest.mark.parametrize(
    ("day", "monday"),
    [("2026-08-03", "2026-08-03"), ("2026-08-09", "2026-08-03"), ("2027-01-01", "2026-12-28")],
)
def test_a_week_is_named_by_its_monday(day: str, monday: str) -> None:
    assert monday_of(date.fromisoformat(day)) == date.fromisoformat(monday)
