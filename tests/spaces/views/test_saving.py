"""Changing what a space holds: over what was seen, or with both versions side by side."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, date, datetime
from typing import Any

import pytest
import time_machine
from django.test import Client

from memoryhub.common.ids import typed_id
from memoryhub.common.tenancy import tenant
from spaces.domain.journal import Log, write_journal
from spaces.domain.memories import edit_memory, remember
from spaces.domain.plans import Changes as PlanChanges
from spaces.domain.plans import create_plan, update_plan
from spaces.domain.records import Changes, put_record, update_record
from spaces.domain.values import set_value
from spaces.models import Space
from tests.conftest import Cast
from tests.pages import SPACE, browser_of, text_of

DAY = date(2026, 1, 5)
LABELS = {"kind": "fact", "tier": "long"}


@dataclass(frozen=True)
class Thing:
    """One stored thing: its page, what its form sends, and how another writer changes it."""

    address: str
    fields: dict[str, Any]
    meddle: Callable[[], Any]


def a_value(cast: Cast) -> Thing:
    set_value(cast.agent, "flags", "a/b", "first")
    return Thing(
        f"{SPACE}/values/in/flags/value/?key=a/b",
        {"value": '"mine"'},
        lambda: set_value(cast.agent, "flags", "a/b", "theirs"),
    )


def a_record(cast: Cast) -> Thing:
    record, _created = put_record(cast.agent, "tasks", Changes(data={"t": "first", "gone": 1}), key="k")
    address = f"{SPACE}/records/in/tasks/{typed_id('rec', record.id)}/"
    theirs = Changes(data={"t": "theirs"})
    fields = {"status": "open", "due_at": "", "content": '{"t": "mine"}'}
    return Thing(address, fields, lambda: update_record(cast.agent, "tasks", record.id, theirs))


def an_entry(cast: Cast) -> Thing:
    write_journal(cast.agent, DAY, Log(summary="first"))
    fields = {"summary": "mine", "decisions": "one\ntwo", "open_loops": "", "source_refs": ""}
    return Thing(
        f"{SPACE}/journal/day/{DAY}/", fields, lambda: write_journal(cast.agent, DAY, Log(summary="theirs"))
    )


def a_memory(cast: Cast) -> Thing:
    memory = remember(cast.agent, text="first").memory
    fields = {"text": "mine", "tags": "a, b", **LABELS}
    return Thing(
        f"{SPACE}/memories/{typed_id('mem', memory.id)}/",
        fields,
        lambda: edit_memory(cast.agent, memory.id, text="theirs"),
    )


def a_plan(cast: Cast) -> Thing:
    plan = create_plan(cast.agent, "Plan", "first")
    fields = {"title": "Plan", "content": "mine", "type": "plan", "status": "draft", "tags": "a, b"}
    return Thing(
        f"{SPACE}/plans/{typed_id('pln', plan.id)}/",
        fields,
        lambda: update_plan(cast.agent, plan.id, PlanChanges(content="theirs", tags=["a", "b"])),
    )


@pytest.fixture(
    params=[a_value, a_record, an_entry, a_memory, a_plan],
    ids=["value", "record", "entry", "memory", "plan"],
)
def thing(request: pytest.FixtureRequest, cast: Cast) -> Thing:
    with tenant(cast.account.id):
        return request.param(cast)  # type: ignore[no-any-return]


@pytest.fixture
def client(cast: Cast) -> Client:
    return browser_of(cast.teammate)


def test_a_change_is_saved_and_shown_as_the_next_version(thing: Thing, client: Client) -> None:
    answer = client.post(thing.address, {**thing.fields, "version": 1})
    assert answer.status_code == 302
    shown = text_of(client.get(thing.address))
    assert "mine" in shown
    assert 'name="version" value="2"' in shown


def test_who_saves_second_sees_both_and_may_choose_theirs_or_their_own(
    thing: Thing, client: Client, cast: Cast
) -> None:
    with tenant(cast.account.id):
        thing.meddle()
    answer = client.post(thing.address, {**thing.fields, "version": 1})
    assert answer.status_code == 409
    shown = text_of(answer)
    assert "Someone saved a newer version while you were editing." in shown
    assert "<del>theirs</del><ins>mine" in shown
    assert "Take theirs" in shown
    assert 'name="version" value="2"' in shown
    assert "theirs" in text_of(client.get(thing.address))

    assert client.post(thing.address, {**thing.fields, "version": 2}).status_code == 302
    assert 'name="version" value="3"' in text_of(client.get(thing.address))


def test_a_viewer_may_read_it_and_change_nothing(thing: Thing, cast: Cast) -> None:
    viewer = browser_of(cast.viewer)
    assert viewer.get(thing.address).status_code == 200
    assert viewer.post(thing.address, {**thing.fields, "version": 1}).status_code == 403
    assert "mine" not in text_of(viewer.get(thing.address))


def test_what_is_not_json_is_told_beside_its_field(cast: Cast, client: Client) -> None:
    with tenant(cast.account.id):
        thing = a_value(cast)
    answer = client.post(thing.address, {"value": "{nope", "version": 1})
    assert answer.status_code == 422
    assert "This is not JSON" in text_of(answer)
    assert "{nope" in text_of(answer)


def test_fields_that_a_record_form_leaves_out_are_removed(cast: Cast, client: Client) -> None:
    with tenant(cast.account.id):
        thing = a_record(cast)
    client.post(thing.address, {**thing.fields, "version": 1})
    card = text_of(client.get(thing.address)).partition("Versions")[0]
    assert "mine" in card
    assert "gone" not in card


def test_a_memory_that_says_what_another_one_says_is_refused_beside_its_text(
    cast: Cast, client: Client
) -> None:
    with tenant(cast.account.id):
        remember(cast.agent, text="mine")
        thing = a_memory(cast)
    answer = client.post(thing.address, {**thing.fields, "version": 1})
    assert answer.status_code == 409
    assert "Another memory says this already." in text_of(answer)


@pytest.mark.parametrize("zone", ["America/Bogota", "Pacific/Kiritimati", "UTC"])
@pytest.mark.parametrize("viewer_zone", ["America/Bogota", "Pacific/Kiritimati", "Asia/Tokyo"])
def test_a_day_that_something_is_due_on_stays_that_day_for_every_viewer(
    cast: Cast, zone: str, viewer_zone: str
) -> None:
    with tenant(cast.account.id):
        Space.objects.filter(account_id=cast.account.id, id=cast.space.id).update(time_zone=zone)
        put_record(cast.agent, "tasks", Changes(due_at="2026-08-08"), key="k")
    client = browser_of(cast.teammate)
    client.cookies["zone"] = viewer_zone
    with time_machine.travel(datetime(2026, 7, 1, tzinfo=UTC)):
        shown = text_of(client.get(f"{SPACE}/records/in/tasks/"))
    assert 'datetime="2026-08-08"' in shown
    assert ">due 8 Aug<" in shown


def test_what_is_due_today_is_not_overdue_before_the_day_ends_there(cast: Cast) -> None:
    with tenant(cast.account.id):
        Space.objects.filter(account_id=cast.account.id, id=cast.space.id).update(time_zone="America/Bogota")
        put_record(cast.agent, "tasks", Changes(due_at="2026-08-08"), key="k")
    seen = {}
    for hour, day in ((4, 9), (6, 9)):  # 23:00 on the 8th and 01:00 on the 9th in Bogota
        with time_machine.travel(datetime(2026, 8, day, hour, tzinfo=UTC)):
            shown = text_of(browser_of(cast.teammate).get(f"{SPACE}/records/in/tasks/"))
        seen[hour] = next(words for words in ("due today", "overdue, yesterday") if f">{words}<" in shown)
    assert seen == {4: "due today", 6: "overdue, yesterday"}
