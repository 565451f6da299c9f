"""Days stay days, and times without an offset are those of the space."""

from datetime import UTC, datetime
from typing import Any

import pytest
from time_machine import TimeMachineFixture

from tests.cases.hub import Agent, Browser, Hub
from tests.cases.stage import propose

DAY = "2026-08-08"
NOON = datetime(2026, 8, 8, 12, tzinfo=UTC)


@pytest.fixture(autouse=True)
def clock(time_machine: TimeMachineFixture) -> TimeMachineFixture:
    """Stands still; autouse, so that keys and sessions are made at that time."""
    time_machine.move_to(NOON, tick=False)
    return time_machine


def settle(hub: Hub, zone: str) -> None:
    admin = Agent(hub, "rest", hub.key("owner"))
    assert admin("space_update", timezone=zone)["space"]["timezone"] == zone


def context(agent: Agent) -> dict[str, list[str]]:
    records = agent("get_context", due_within_days=0)["records"]
    return {kind: [record["due_at"] for record in found] for kind, found in records.items() if found}


@pytest.mark.parametrize(
    ("zone", "last", "after"),
    [
        ("America/Bogota", datetime(2026, 8, 9, 4, 59, tzinfo=UTC), datetime(2026, 8, 9, 5, 1, tzinfo=UTC)),
        (
            "Pacific/Kiritimati",
            datetime(2026, 8, 8, 9, 59, tzinfo=UTC),
            datetime(2026, 8, 8, 10, 1, tzinfo=UTC),
        ),
        ("UTC", datetime(2026, 8, 8, 23, 59, tzinfo=UTC), datetime(2026, 8, 9, 0, 1, tzinfo=UTC)),
    ],
)
def test_a_due_day_is_that_day_everywhere_and_overdue_only_after_it(
    agent: Agent, hub: Hub, clock: Any, zone: str, last: datetime, after: datetime
) -> None:
    settle(hub, zone)
    record = agent("record_put", collection="c", due_at=DAY)["record"]
    assert (record["due_at"], record["due_date_only"]) == (DAY, True)
    clock.move_to(last, tick=False)
    assert context(agent) == {"due": [DAY]}
    owner = Browser(hub, "owner")
    page = owner.get(f"{hub.place}/records/in/c/{record['id']}/").text
    assert f"{DAY}, the whole day in {zone}" in page
    assert "overdue" not in page
    clock.move_to(after, tick=False)
    assert context(agent) == {"overdue": [DAY]}
    assert "overdue" in owner.get(f"{hub.place}/records/in/c/{record['id']}/").text


def test_a_bound_that_is_a_day_includes_it_and_stays_when_the_zone_changes(agent: Agent, hub: Hub) -> None:
    settle(hub, "America/Bogota")
    agent("record_put", collection="c", due_at=DAY)
    for zone in ("America/Bogota", "Pacific/Kiritimati", "Europe/Zurich"):
        settle(hub, zone)
        (record,) = agent("record_query", collection="c", due_before=DAY)["items"]
        assert record["due_at"] == DAY
        assert agent("record_query", collection="c", due_before="2026-08-07")["items"] == []


def test_a_time_without_an_offset_is_in_the_zone_of_the_space(agent: Agent, hub: Hub) -> None:
    settle(hub, "Asia/Jerusalem")
    record = agent("record_put", collection="c", due_at="2026-08-27T18:00:00")["record"]
    assert record["due_at"] == "2026-08-27T15:00:00Z"
    assert propose(agent, expires_at="2026-08-10T18:00")["action"]["expires_at"] == "2026-08-10T15:00:00Z"
    assert (
        agent("remember", text="x", expires_at="2026-08-10T18:00")["memory"]["expires_at"]
        == "2026-08-10T15:00:00Z"
    )


@pytest.mark.parametrize(
    "moment",
    [
        "2027-03-14T02:30",  # which the clocks skip
        "2026-11-01T01:30",  # which they show twice
        "2026-W10",
        "2026-W10-1",
        "20260808",
        "0000-01-01",
        "10000-01-01",
        "2026-02-30",
        "2026-13-01",
        "2026-08-08T25:00",
        "tomorrow",
        "2026-8-8",
    ],
)
def test_a_time_that_is_none_or_two_is_refused_by_name(agent: Agent, hub: Hub, moment: str) -> None:
    settle(hub, "America/New_York")
    for refusal, field in (
        (agent("record_put", collection="c", due_at=moment), "due_at"),
        (agent("record_query", collection="c", due_before=moment), "due_before"),
        (agent("remember", text="x", expires_at=moment), "expires_at"),
        (propose(agent, expires_at=moment), "expires_at"),
        (agent("journal_write", date=moment, summary="x"), "date"),
    ):
        assert (refusal.code, refusal.fields) == ("validation_failed", [field])


def test_a_journal_of_late_evening_is_that_of_the_local_day(agent: Agent, hub: Hub, clock: Any) -> None:
    settle(hub, "America/Bogota")
    clock.move_to(datetime(2026, 8, 9, 4, 30, tzinfo=UTC), tick=False)  # 23:30 on the 8th
    assert agent("journal_write", date=DAY, summary="today")["entry"]["date"] == DAY
    assert agent("journal_write", date="2026-08-09", summary="tomorrow")["created"] is True
    assert agent("journal_write", date="2026-08-10", summary="too far").fields == ["date"]
    assert [e["date"] for e in agent("get_context", journal_days=1)["journal"]] == ["2026-08-09", DAY]
