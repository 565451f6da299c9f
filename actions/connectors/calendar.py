"""calendar.create: `events.insert` under an id of our own, so that a second try is known as one."""

from datetime import timedelta
from typing import Any
from urllib.parse import quote
from zoneinfo import ZoneInfo

from pydantic import Field

from actions.connectors.addresses import address, addresses
from actions.connectors.answers import Refused
from actions.connectors.base import (
    Ask,
    Call,
    Connector,
    Given,
    Payload,
    many_lines,
    one_line,
    read,
    refused,
    without_empty,
)
from memoryhub.common.times import DATE, parse_date, parse_time
from memoryhub.common.times import zone as zone_named

TITLE, LOCATION, DESCRIPTION, ATTENDEES = 1_000, 1_000, 8_000, 200
FIRST_YEAR = 1970  # before, offsets had seconds, which no calendar takes
LONGEST = timedelta(days=366)
NOT_FOUND = 404
MARKER_PROPERTY = "memoryHubAction"


class CalendarEvent(Payload):
    """`start` and `end` are two times, or two days: the end of an event of days is the day after its last."""

    title: str
    start: str
    end: str
    calendar_id: str = "primary"
    attendees: list[str] = Field(default_factory=list, max_length=ATTENDEES)
    location: str = ""
    description: str = ""
    notify: bool = False
    time_zone: str = Field(default="", max_length=64)


def normalise(payload: Given, zone: ZoneInfo) -> dict[str, Any]:
    """Times are told with their offset in the zone (the space's, if none is named), and meant there without one."""
    given = read(CalendarEvent, payload)
    zone = zone_named(given.time_zone, "payload.time_zone") if given.time_zone else zone
    start, end = _span(given, zone)
    members = {
        "title": one_line("title", given.title, TITLE),
        "start": start,
        "end": end,
        "time_zone": zone.key,
        "calendar_id": _calendar(given.calendar_id),
        "attendees": addresses("attendees", given.attendees),
        "location": one_line("location", given.location, LOCATION) if given.location else "",
        "description": many_lines("description", given.description, DESCRIPTION),
    }
    return without_empty(members) | {"notify": given.notify}


def call(payload: Given, marker: str) -> Call:
    return Call(
        "POST",
        _events(payload),
        without_empty(_event(payload, marker)),
        {"sendUpdates": "all" if payload["notify"] else "none"},
    )


def find(ask: Ask, payload: Given, marker: str) -> dict[str, Any] | None:
    """Asking for it is enough: its id is ours. One that was deleted meanwhile still was made."""
    path = f"{_events(payload)}/{event_id(marker)}"
    try:
        return receipt(ask(Call("GET", path)))
    except Refused as refusal:
        if refusal.status == NOT_FOUND:
            return None
        raise


def receipt(answer: dict[str, Any]) -> dict[str, Any]:
    return without_empty({"id": answer["id"], "url": answer.get("htmlLink")})


def event_id(marker: str) -> str:
    """Google takes ids of the characters 0-9 a-v."""
    return f"mh{marker.removeprefix('act_')}"


def _events(payload: Given) -> str:
    return f"/calendar/v3/calendars/{quote(payload['calendar_id'], safe='')}/events"


def _event(payload: Given, marker: str) -> dict[str, Any]:
    return {
        "id": event_id(marker),
        "summary": payload["title"],
        "start": _edge(payload["start"], payload["time_zone"]),
        "end": _edge(payload["end"], payload["time_zone"]),
        "attendees": [{"email": address} for address in payload.get("attendees", [])],
        "location": payload.get("location"),
        "description": payload.get("description"),
        "extendedProperties": {"private": {MARKER_PROPERTY: marker}},
    }


def _edge(at: str, zone: str) -> dict[str, str]:
    return {"date": at} if DATE.fullmatch(at) else {"dateTime": at, "timeZone": zone}


def _span(given: CalendarEvent, zone: ZoneInfo) -> tuple[str, str]:
    whole_days = [bool(DATE.fullmatch(at.strip())) for at in (given.start, given.end)]
    if whole_days[0] != whole_days[1]:
        raise refused("end", "Must be a day if start is one, and a time if start is one.")
    return _days(given) if whole_days[0] else _times(given, zone)


def _days(given: CalendarEvent) -> tuple[str, str]:
    start = parse_date(given.start.strip(), "payload.start")
    end = parse_date(given.end.strip(), "payload.end")
    _check_order(end - start, "the day after the event's last day")
    return start.isoformat(), end.isoformat()


def _times(given: CalendarEvent, zone: ZoneInfo) -> tuple[str, str]:
    start = parse_time(given.start, zone, field="payload.start")
    end = parse_time(given.end, zone, field="payload.end")
    if start.year < FIRST_YEAR:
        raise refused("start", f"Must be in {FIRST_YEAR} or later.")
    _check_order(end - start, "after start")
    return start.astimezone(zone).isoformat(), end.astimezone(zone).isoformat()


def _check_order(length: timedelta, wanted: str) -> None:
    if length <= timedelta(0):
        raise refused("end", f"Must be {wanted}.")
    if length > LONGEST:
        raise refused("end", f"Must be at most {LONGEST.days} days after start.")


def _calendar(given: str) -> str:
    return given if given == "primary" else address("calendar_id", given)


CALENDAR_CREATE = Connector(
    "calendar.create", "google", "calendar", 1, normalise, call, find, receipt, repeatable=True
)
