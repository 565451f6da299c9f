"""When something that recurs is due next, by RFC 5545's rules and the clocks of a place."""

import re
from datetime import UTC, datetime, timedelta
from itertools import islice
from zoneinfo import ZoneInfo

from dateutil.rrule import rrule, rrulestr

from memoryhub.common.errors import ValidationFailed

LONGEST = 200
FREQUENCIES = ("DAILY", "WEEKLY", "MONTHLY", "YEARLY")
WORDS = {name.lower(): f"FREQ={name}" for name in FREQUENCIES}
WORDS["weekdays"] = "FREQ=WEEKLY;BYDAY=MO,TU,WE,TH,FR"
_PARTS = "FREQ INTERVAL COUNT UNTIL BYDAY BYMONTHDAY BYMONTH BYSETPOS BYYEARDAY BYWEEKNO WKST"
PARTS = frozenset(_PARTS.split())
UNTIL = re.compile(r"([0-9]{8})(?:T([0-9]{6})(Z?))?")
MOST_INTERVAL = 1_000
AHEAD = timedelta(days=50 * 366)
"""How far a next time is looked for."""
CYCLE = 400
"""Years after which the calendar repeats itself, weekdays included."""
LAST = 9_999


def as_rule(text: str) -> str:
    """The rule in one spelling. A word like `daily` will do; what recurs within a day won't."""
    plain = text.strip()
    rule = WORDS.get(plain.lower(), plain.upper().removeprefix("RRULE:"))
    if len(rule) > LONGEST or not _is_fair(rule):
        raise _refused()
    return rule


def wall_clock(moment: datetime, place: ZoneInfo) -> datetime:
    """What the clocks there show, kept as if it were UTC."""
    return moment.astimezone(place).replace(tzinfo=UTC)


def next_time(rule: str, first: datetime, after: datetime, place: ZoneInfo) -> datetime | None:
    """The first time of the rule after `after`; None where the rule has ended. `first` is a wall clock.

    What is at nine stays at nine. A time that the clocks skip is taken an hour later, and of one that they show
    twice the first.
    """
    later = _years_to_the_end(after.year)
    bound = _moved(after.astimezone(place), later)
    times, count = _read(rule, _moved(first, later), place, later, bound + AHEAD)
    found = next((time for time in islice(times, count) if time > bound), None)
    return _moved(found, -later).replace(tzinfo=place).astimezone(UTC) if found is not None else None


def _years_to_the_end(year: int) -> int:
    """Whole cycles of the calendar, towards its last year. A rule that never holds is looked through up to there,
    day by day: from now that would take many seconds."""
    return (LAST - AHEAD.days // 365 - year) // CYCLE * CYCLE


def _moved(moment: datetime, years: int) -> datetime:
    return moment.replace(year=moment.year + years, tzinfo=None)


def check_recurs(rule: str, due: datetime, place: ZoneInfo) -> None:
    """Refuses a rule that can't be read, and one that never comes again."""
    if next_time(rule, wall_clock(due, place), due, place) is None:
        raise ValidationFailed(
            {"recurrence": ["Never comes again after due_at. Leave it out, or correct it."]}
        )


def _read(
    rule: str, start: datetime, place: ZoneInfo, later: int, latest: datetime
) -> tuple[rrule, int | None]:
    """Its times, none after `latest`, and how many of them count."""
    parts = dict(part.split("=", 1) for part in rule.split(";"))
    until = _until(parts.pop("UNTIL"), place) if "UNTIL" in parts else None
    last = latest if until is None or until.year + later > LAST else min(_moved(until, later), latest)
    count = int(parts.pop("COUNT")) if "COUNT" in parts else None
    try:
        read = rrulestr(";".join(f"{name}={value}" for name, value in parts.items()), dtstart=start)
    except (ValueError, KeyError, IndexError, TypeError, AttributeError):
        raise _refused() from None
    assert isinstance(read, rrule)
    return read.replace(until=last), count


def _until(text: str, place: ZoneInfo) -> datetime:
    """In local time: an offset is turned into it, and a day alone lasts through its end."""
    match = UNTIL.fullmatch(text)
    assert match is not None
    try:
        moment = datetime.strptime(match[1] + (match[2] or "235959"), "%Y%m%d%H%M%S")  # noqa: DTZ007
        return moment.replace(tzinfo=UTC).astimezone(place).replace(tzinfo=None) if match[3] else moment
    except (ValueError, OverflowError):
        raise _refused() from None


def _is_fair(rule: str) -> bool:
    pairs = [part.partition("=") for part in rule.split(";")]
    parts = {name: value for name, _, value in pairs}
    if len(parts) < len(pairs) or not parts.keys() <= PARTS or not all(parts.values()):
        return False
    counts = [parts[name] for name in ("INTERVAL", "COUNT") if name in parts]
    return (
        parts.get("FREQ") in FREQUENCIES
        and not {"COUNT", "UNTIL"} <= parts.keys()
        and all(re.fullmatch("[0-9]{1,4}", count) and 1 <= int(count) <= MOST_INTERVAL for count in counts)
        and ("UNTIL" not in parts or UNTIL.fullmatch(parts["UNTIL"]) is not None)
    )


def _refused() -> ValidationFailed:
    return ValidationFailed(
        {
            "recurrence": [
                "Must be a rule like FREQ=WEEKLY;BYDAY=MO, or daily, weekly, monthly, yearly or weekdays."
            ]
        }
    )
