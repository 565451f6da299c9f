from collections.abc import Iterator
from datetime import UTC, date, datetime, timedelta

import pytest
import time_machine

from memoryhub.common.errors import Conflict, NotFound, ValidationFailed
from spaces.domain.journal import Log, access_entry, delete_entry, recent_journal, write_journal
from spaces.models import JournalVersion
from tests.conftest import Cast

pytestmark = pytest.mark.usefixtures("inside", "wednesday")

NOW = datetime(2026, 8, 12, 12, tzinfo=UTC)
TODAY = NOW.date()


@pytest.fixture
def wednesday() -> Iterator[None]:
    with time_machine.travel(NOW, tick=False):
        yield


def write(cast: Cast, day: date, kind: str = "day", text: str = "x") -> None:
    write_journal(cast.agent, day, Log(text), kind=kind)


def test_recent_days_begin_today_and_include_tomorrow(cast: Cast) -> None:
    for days_ago in range(-1, 9):
        write(cast, TODAY - timedelta(days=days_ago))
    recent = recent_journal(cast.agent, cast.space, 3)
    assert [entry.date.day for entry in recent] == [13, 12, 11, 10]
    assert recent_journal(cast.agent, cast.space, 0) == []


def test_a_week_is_recent_as_long_as_one_of_its_days_is(cast: Cast) -> None:
    for monday in (3, 10):
        write(cast, date(2026, 8, monday), "week")
    assert [e.date.day for e in recent_journal(cast.agent, cast.space, 1)] == [10]
    assert [e.date.day for e in recent_journal(cast.agent, cast.space, 3)] == [10]
    assert [e.date.day for e in recent_journal(cast.agent, cast.space, 4)] == [10, 3]


def test_a_deleted_entry_is_gone_with_its_versions(cast: Cast) -> None:
    write(cast, TODAY, text="one")
    write(cast, TODAY, text="two")
    with pytest.raises(Conflict):
        delete_entry(cast.agent, TODAY, expected_version=1)
    delete_entry(cast.agent, TODAY, expected_version=2)
    with pytest.raises(NotFound):
        access_entry(cast.agent, TODAY)
    assert not JournalVersion.objects.exists()


def test_callers_that_no_schema_has_checked_keep_to_the_limits_too(cast: Cast) -> None:
    for log in (Log("x" * 10_001), Log("a\0b"), Log(decisions=["x"] * 101), Log(open_loops=["x" * 1_001])):
        with pytest.raises(ValidationFailed):
            write_journal(cast.agent, TODAY, log)
    with pytest.raises(ValidationFailed):
        write_journal(cast.agent, TODAY, Log("x"), kind="month")
