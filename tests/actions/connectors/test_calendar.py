from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from actions.connectors.calendar import call, normalise
from memoryhub.common.errors import ValidationFailed

JERUSALEM, NEW_YORK, UTC = ZoneInfo("Asia/Jerusalem"), ZoneInfo("America/New_York"), ZoneInfo("UTC")
MARKER = "act_" + "2" * 32
LUNCH = {"title": "Lunch", "start": "2026-05-27T18:00:00", "end": "2026-05-27T19:00:00"}


def test_a_time_without_an_offset_is_in_the_zone_of_the_space_and_says_so() -> None:
    assert normalise(LUNCH, JERUSALEM) == {
        "title": "Lunch",
        "start": "2026-05-27T18:00:00+03:00",
        "end": "2026-05-27T19:00:00+03:00",
        "time_zone": "Asia/Jerusalem",
        "calendar_id": "primary",
        "notify": False,
    }


def test_a_time_with_an_offset_is_the_same_moment_told_in_that_zone() -> None:
    payload = normalise({**LUNCH, "start": "2026-05-27T15:00:00Z", "time_zone": "Asia/Jerusalem"}, UTC)
    assert payload["start"] == "2026-05-27T18:00:00+03:00"


def test_an_event_of_days_keeps_its_days() -> None:
    payload = normalise({"title": "Off", "start": "2026-05-27", "end": "2026-05-29"}, JERUSALEM)
    assert call(payload, MARKER).body["start"] == {"date": "2026-05-27"}
    assert (payload["start"], payload["end"]) == ("2026-05-27", "2026-05-29")


@pytest.mark.parametrize(
    ("change", "zone", "named"),
    [
        ({"end": "2026-05-27T18:00:00"}, UTC, "payload.end"),
        ({"end": "2026-05-27T17:00:00"}, UTC, "payload.end"),
        ({"end": "2026-05-28"}, UTC, "payload.end"),
        ({"start": "2026-05-27", "end": "2026-05-27"}, UTC, "payload.end"),
        ({"end": "2027-06-27T19:00:00"}, UTC, "payload.end"),
        ({"start": "2026-03-08T02:30", "end": "2026-03-08T04:00"}, NEW_YORK, "payload.start"),
        ({"start": "2026-11-01T00:30", "end": "2026-11-01T01:30"}, NEW_YORK, "payload.end"),
        ({"start": "soon"}, UTC, "payload.start"),
        ({"start": "2026-W22-3"}, UTC, "payload.start"),
        ({"title": " "}, UTC, "payload.title"),
        ({"title": "a\nb"}, UTC, "payload.title"),
        ({"attendees": ["Ann"]}, UTC, "payload.attendees[0]"),
        ({"calendar_id": "../x"}, UTC, "payload.calendar_id"),
        ({"time_zone": "Mars/Base"}, UTC, "payload.time_zone"),
        ({"notify": "true"}, UTC, "payload.notify"),
        ({"recurrence": ["RRULE:FREQ=DAILY"]}, UTC, "payload.recurrence"),
    ],
)
def test_an_event_that_makes_no_sense_is_refused_by_its_field(
    change: dict, zone: ZoneInfo, named: str
) -> None:
    with pytest.raises(ValidationFailed) as refusal:
        normalise({**LUNCH, **change}, zone)
    assert list(refusal.value.fields) == [named]


def test_the_call_has_our_own_id_and_tells_attendees_only_if_asked() -> None:
    payload = normalise(
        {**LUNCH, "attendees": ["ann@Example.org"], "calendar_id": "team@group.example"}, JERUSALEM
    )
    made = call(payload, MARKER)
    assert (made.path, made.query) == (
        "/calendar/v3/calendars/team%40group.example/events",
        {"sendUpdates": "none"},
    )
    assert made.body == {
        "id": "mh" + "2" * 32,
        "summary": "Lunch",
        "start": {"dateTime": "2026-05-27T18:00:00+03:00", "timeZone": "Asia/Jerusalem"},
        "end": {"dateTime": "2026-05-27T19:00:00+03:00", "timeZone": "Asia/Jerusalem"},
        "attendees": [{"email": "ann@example.org"}],
        "extendedProperties": {"private": {"memoryHubAction": MARKER}},
    }
    assert call(normalise({**payload, "notify": True}, JERUSALEM), MARKER).query == {"sendUpdates": "all"}


@given(st.datetimes(), st.sampled_from(["Asia/Jerusalem", "America/St_Johns", "Pacific/Kiritimati", "UTC"]))
def test_whatever_time_is_told_reads_the_same_in_any_space(start, name: str) -> None:
    given_ = {"title": "x", "start": start.isoformat(), "end": "2300-01-01T00:00:00Z"}
    try:
        payload = normalise({**given_, "end": start.replace(hour=23, minute=59).isoformat()}, ZoneInfo(name))
    except ValidationFailed:
        return
    assert normalise(payload, NEW_YORK) == payload
