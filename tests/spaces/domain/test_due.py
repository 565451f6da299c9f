import threading
from datetime import UTC, date, datetime
from typing import Any

import pytest
import time_machine
from django.db import connection

from memoryhub.common.tenancy import tenant
from spaces.domain.due import due_records, open_records
from spaces.domain.records import Changes, put_record
from spaces.domain.spaces import Settings, update_space
from spaces.models import Record, Space
from tests.conftest import Cast

inside = pytest.mark.usefixtures("inside")


def put(cast: Cast, key: str, due_at: str = "", *, collection: str = "tasks", status: str = "open") -> Record:
    return put_record(cast.agent, collection, Changes(status=status, due_at=due_at), key=key)[0]


def in_zone(cast: Cast, name: str) -> Space:
    return update_space(cast.owner, Settings(time_zone=name))


def at(local: str, offset: str) -> Any:
    return time_machine.travel(datetime.fromisoformat(local + offset), tick=False)


def due(cast: Cast, space: Space, days: int = 0, **arguments: Any) -> tuple[list[str], list[str]]:
    found = due_records(cast.agent, space, within_days=days, **arguments)
    return [r.key for r in found.overdue], [r.key for r in found.due]


@inside
@pytest.mark.parametrize(
    ("zone", "offset"),
    [
        ("America/Bogota", "-05:00"),
        ("Pacific/Kiritimati", "+14:00"),
        ("Asia/Kathmandu", "+05:45"),
        ("UTC", "+00:00"),
    ],
)
def test_what_is_due_on_a_day_is_due_through_that_day_and_then_overdue(
    cast: Cast, zone: str, offset: str
) -> None:
    space = in_zone(cast, zone)
    put(cast, "a", "2026-08-08")
    for moment, expected in {
        "2026-08-07T23:59:59": ([], []),
        "2026-08-08T00:00:00": ([], ["a"]),
        "2026-08-08T23:59:59": ([], ["a"]),
        "2026-08-09T00:00:00": (["a"], []),
    }.items():
        with at(moment, offset):
            assert due(cast, space) == expected


@inside
def test_a_due_day_stays_when_the_zone_changes_and_a_due_time_too(cast: Cast) -> None:
    in_zone(cast, "Pacific/Kiritimati")
    put(cast, "day", "2026-08-08")
    put(cast, "time", "2026-08-08T10:00")
    before = Record.objects.get(key="time").due_at
    space = in_zone(cast, "Pacific/Pago_Pago")
    day = Record.objects.get(key="day")
    assert (day.due_on, day.due_at) == (date(2026, 8, 8), datetime(2026, 8, 9, 10, 59, 59, 999999, UTC))
    assert (day.version, Record.objects.get(key="time").due_at) == (1, before)
    with at("2026-08-08T12:00:00", "-11:00"):
        assert due(cast, space) == (["time"], ["day"])


@inside
def test_days_are_counted_in_the_spaces_zone_and_the_last_one_is_included(cast: Cast) -> None:
    space = in_zone(cast, "America/New_York")
    for key, moment in {
        "today": "2026-03-07T23:00",
        "tomorrow": "2026-03-08T23:59",
        "third": "2026-03-09",
    }.items():
        put(cast, key, moment)
    with at("2026-03-07T22:00:00", "-05:00"):  # the clocks go forward on the 8th
        assert [due(cast, space, days)[1] for days in (0, 1, 2)] == [
            ["today"],
            ["today", "tomorrow"],
            ["today", "tomorrow", "third"],
        ]


@inside
@time_machine.travel(datetime(2026, 8, 8, 12, tzinfo=UTC), tick=False)
def test_closed_records_are_neither_due_nor_open(cast: Cast) -> None:
    for status in ("open", "waiting", "done", "closed", "completed", "cancelled", "archived"):
        put(cast, status, "2026-08-01", status=status)
    assert due(cast, cast.space) == (["waiting", "open"], [])
    assert [r.key for r in open_records(cast.agent, cast.space).newest] == ["waiting", "open"]


@inside
@time_machine.travel(datetime(2026, 8, 8, 12, tzinfo=UTC), tick=False)
def test_a_collection_may_have_its_own_statuses_that_close(cast: Cast) -> None:
    for collection in ("leads", "tasks"):
        for status in ("done", "won"):
            put(cast, f"{collection} {status}", "2026-08-01", collection=collection, status=status)
    space = update_space(cast.owner, Settings(closed_statuses={"leads": ["won"], "ideas": []}))
    put(cast, "ideas done", "2026-08-01", collection="ideas", status="done")
    assert sorted(due(cast, space)[0]) == ["ideas done", "leads done", "tasks won"]


@inside
@time_machine.travel(datetime(2026, 8, 8, 12, tzinfo=UTC), tick=False)
def test_collections_may_be_chosen(cast: Cast) -> None:
    put(cast, "task", "2026-08-01")
    put(cast, "lead", "2026-08-01", collection="leads")
    assert due(cast, cast.space, collections=["leads", "none"]) == (["lead"], [])
    assert due(cast, cast.space, collections=[]) == ([], [])
    assert open_records(cast.agent, cast.space, collections=["tasks"]).total == 1


@inside
@time_machine.travel(datetime(2026, 8, 8, 12, tzinfo=UTC), tick=False)
def test_open_records_are_the_newest_and_leave_out_those_that_are_due(cast: Cast) -> None:
    for key, moment in {
        "overdue": "2026-08-01",
        "soon": "2026-08-10",
        "late": "2026-12-24",
        "never": "",
    }.items():
        put(cast, key, moment)
    found = open_records(cast.agent, cast.space, due_after_days=7, limit=1)
    assert ([r.key for r in found.newest], found.total) == (["never"], 2)
    assert [r.key for r in open_records(cast.agent, cast.space).newest] == [
        "never",
        "late",
        "soon",
        "overdue",
    ]


@inside
@time_machine.travel(datetime(2026, 8, 8, 12, tzinfo=UTC), tick=False)
def test_those_beyond_the_most_are_counted(cast: Cast, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("spaces.domain.due.MOST", 2)
    for day in (1, 2, 3):
        put(cast, f"r{day}", f"2026-08-0{day}")
    found = due_records(cast.agent, cast.space, within_days=0)
    assert ([r.key for r in found.overdue], found.total) == (["r1", "r2"], 3)


@inside
def test_the_end_of_a_day_without_a_midnight_is_found(cast: Cast) -> None:
    in_zone(cast, "America/Havana")  # on 8 March 2026 the clocks go from 0:00 to 1:00
    put(cast, "a", "2026-03-07")
    assert Record.objects.get().due_at == datetime(2026, 3, 8, 4, 59, 59, 999999, UTC)
    in_zone(cast, "UTC")
    in_zone(cast, "America/Havana")
    assert Record.objects.get().due_at == datetime(2026, 3, 8, 4, 59, 59, 999999, UTC)


@pytest.mark.django_db(transaction=True)
def test_a_day_being_written_while_the_zone_changes_ends_by_the_new_zone(cast: Cast) -> None:
    with tenant(cast.account.id):
        put(cast, "a", "2026-08-08")
        changing = threading.Thread(target=change_zone, args=(cast, "Pacific/Kiritimati"))
        changing.start()
        until_one_waits()
    changing.join()
    with tenant(cast.account.id):
        assert Record.objects.get().due_at == datetime(2026, 8, 8, 9, 59, 59, 999999, UTC)


@pytest.mark.django_db(transaction=True)
def test_a_day_written_after_the_zone_began_to_change_waits_and_ends_by_the_new_zone(cast: Cast) -> None:
    def write() -> None:
        try:
            with tenant(cast.account.id):
                put(cast, "a", "2026-08-08")
        finally:
            connection.close()

    with tenant(cast.account.id):
        in_zone(cast, "Pacific/Kiritimati")
        writing = threading.Thread(target=write)
        writing.start()
        until_one_waits()
    writing.join()
    with tenant(cast.account.id):
        assert Record.objects.get().due_at == datetime(2026, 8, 8, 9, 59, 59, 999999, UTC)


def change_zone(cast: Cast, name: str) -> None:
    try:
        with tenant(cast.account.id):
            in_zone(cast, name)
    finally:
        connection.close()


def until_one_waits() -> None:
    """Until another transaction waits for a lock of this one."""
    with connection.cursor() as cursor:
        for _ in range(100_000):
            cursor.execute("select 1 from pg_locks where not granted and locktype = 'advisory'")
            if cursor.fetchone():
                return
    raise AssertionError("nobody waits")
