from datetime import UTC, datetime
from zoneinfo import ZoneInfo

from spaces.domain.search.passage import passage

SAID_AT = datetime(2023, 5, 8, 23, 30, tzinfo=UTC)


def test_a_passage_says_when_who_where_and_what() -> None:
    said = passage(
        "Tuesday 14:00",
        said_at=SAID_AT,
        zone=UTC,
        actor="Ann",
        space="Ops",
        tags=["a", "b"],
        subject="Window",
    )
    assert said == "[Monday 8 May 2023] Ann (Ops; a, b): Window. Tuesday 14:00"


def test_what_is_empty_leaves_no_trace() -> None:
    assert passage("tea", said_at=SAID_AT, zone=UTC) == "[Monday 8 May 2023] tea"
    assert passage("tea", said_at=SAID_AT, zone=UTC, space="Ops") == "[Monday 8 May 2023] (Ops): tea"
    assert passage("tea", said_at=SAID_AT, zone=UTC, actor="Ann") == "[Monday 8 May 2023] Ann: tea"


def test_the_day_is_that_of_the_zone() -> None:
    assert passage("tea", said_at=SAID_AT, zone=ZoneInfo("Asia/Tokyo")) == "[Tuesday 9 May 2023] tea"
