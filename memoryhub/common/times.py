"""Times from outside and back: ISO 8601 in, RFC 3339 in UTC out.

A time without an offset is meant in the space's time zone. A local time that its clocks skip, or show twice,
means nothing certain and is refused.
"""

import re
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta, tzinfo
from functools import cache
from zoneinfo import ZoneInfo, available_timezones

from memoryhub.common.errors import ValidationFailed

# Within these every zone can show every time, with a year of four digits.
FIRST_YEAR, LAST_YEAR = 1000, 9998
NOT_PLACES = frozenset({"localtime", "Factory"})

DATE = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
TIME = re.compile(
    r"(?P<local>[0-9]{4}-[0-9]{2}-[0-9]{2}[Tt ](?!24)[0-9]{2}:[0-9]{2}(?::[0-9]{2})?)"
    r"(?:[.,](?P<fraction>[0-9]{1,9}))?"
    r"(?P<offset>[Zz]|[+-][0-9]{2}(?::?[0-5][0-9])?)?"
)

TIME_FORM = "Must be a day like 2026-08-08, or a time like 2026-08-08T14:30 or 2026-08-08T14:30:00Z."
DATE_FORM = "Must be a date like 2026-08-08."
NO_SUCH_TIME = "Is not a time that exists. Check day, hour, minute and offset."
NO_SUCH_DATE = "Is not a day that exists. Check month and day."
YEAR_RANGE = f"Must be in the years {FIRST_YEAR} to {LAST_YEAR}."
WITH_OFFSET = "Send it with an offset, like 2026-08-08T14:30:00+02:00."
SKIPPED = f"Does not exist in the time zone {{zone}}: its clocks skip it. {WITH_OFFSET}"
TWICE = f"Happens twice in the time zone {{zone}}, as its clocks go back. {WITH_OFFSET}"

Day = date


@dataclass(frozen=True)
class Due:
    """When something is due: by a moment, or on a calendar day.

    With a `date`, `at` is the last moment of that day in its zone. So for both forms: overdue is `at < now`,
    due by a bound is `at <= bound.at`, and `at` shown in the zone is on the right day. When the zone changes,
    a day is kept by computing `at` anew: `Due.on(date, zone)`.
    """

    at: datetime
    date: Day | None = None

    @property
    def date_only(self) -> bool:
        return self.date is not None

    @classmethod
    def on(cls, day: Day, zone: tzinfo) -> "Due":
        return cls(at=day_end(day, zone), date=day)


def parse_time(text: str, zone: ZoneInfo, *, field: str) -> datetime:
    """In UTC. Without an offset the time is in `zone`.

    A date alone is the first moment of that day: where its end is meant, use `parse_due`.
    """
    text = text.strip()
    if DATE.fullmatch(text):
        return day_start(parse_date(text, field), zone)
    parts = TIME.fullmatch(text)
    if parts is None:
        raise _refused(field, TIME_FORM)
    local = _read(f"{parts['local']}{_micro(parts['fraction'])}{_offset(parts['offset'])}", field)
    return (local if local.tzinfo else _placed(local, zone, field)).astimezone(UTC)


def parse_date(text: str, field: str) -> date:
    """Exactly YYYY-MM-DD."""
    if not DATE.fullmatch(text):
        raise _refused(field, DATE_FORM)
    _check_year(text, field)
    try:
        return date.fromisoformat(text)
    except ValueError:
        raise _refused(field, NO_SUCH_DATE) from None


def parse_due(text: str, zone: ZoneInfo, field: str) -> Due:
    """A date alone is due on that day and not overdue during it; a time is due at that moment."""
    if DATE.fullmatch(text.strip()):
        return Due.on(parse_date(text.strip(), field), zone)
    return Due(at=parse_time(text, zone, field=field))


def format_time(moment: datetime) -> str:
    """Like 2026-08-08T14:30:00Z, with microseconds where there are some, so that it reads back the same."""
    if moment.tzinfo is None:
        raise ValueError("A time without a zone can't be told to anybody.")
    return moment.astimezone(UTC).isoformat().removesuffix("+00:00") + "Z"


def zone(name: str, field: str = "timezone") -> ZoneInfo:
    """The IANA time zone of that name."""
    if name not in _zone_names():
        raise ValidationFailed({field: ["Must be an IANA time zone like Europe/Zurich or UTC."]})
    return ZoneInfo(name)


def day_start(day: date, zone: tzinfo) -> datetime:
    """The first moment of the day there, in UTC."""
    return datetime.combine(day, time.min, zone).astimezone(UTC)


def day_end(day: date, zone: tzinfo) -> datetime:
    """The last microsecond of the day there, in UTC."""
    return day_start(day + timedelta(days=1), zone) - timedelta(microseconds=1)


def monday_of(day: date) -> date:
    return day - timedelta(days=day.weekday())


def _read(text: str, field: str) -> datetime:
    _check_year(text, field)
    try:
        return datetime.fromisoformat(text)
    except ValueError:
        raise _refused(field, NO_SUCH_TIME) from None


def _check_year(text: str, field: str) -> None:
    if not FIRST_YEAR <= int(text[:4]) <= LAST_YEAR:
        raise _refused(field, YEAR_RANGE)


def _micro(fraction: str | None) -> str:
    return f".{fraction[:6]:0<6}" if fraction else ""


def _offset(offset: str | None) -> str:
    if not offset or offset in "Zz":
        return "+00:00" if offset else ""
    digits = offset[1:].replace(":", "").ljust(4, "0")
    return f"{offset[0]}{digits[:2]}:{digits[2:]}"


def _placed(local: datetime, zone: ZoneInfo, field: str) -> datetime:
    """The local time in its zone, if its clocks show it exactly once."""
    first, second = local.replace(tzinfo=zone, fold=0), local.replace(tzinfo=zone, fold=1)
    if first.utcoffset() == second.utcoffset():
        return first
    exists = first.astimezone(UTC).astimezone(zone).replace(tzinfo=None, fold=0) == local
    raise _refused(field, (TWICE if exists else SKIPPED).format(zone=zone.key))


def _refused(field: str, message: str) -> ValidationFailed:
    return ValidationFailed({field: [message]})


@cache
def _zone_names() -> frozenset[str]:
    return frozenset(available_timezones()) - NOT_PLACES
