import asyncio
import json
from datetime import timedelta
from typing import Any

import pytest
import time_machine
from django.test import Client
from django.utils import timezone

import accounts.tasks  # noqa: F401 (makes the handlers of jobs known)
from accounts.domain.events import record_event, seal_events
from accounts.domain.jobs import run_due_jobs
from accounts.models import Event, User
from memoryhub.common.ids import new_id, typed_id
from memoryhub.common.tenancy import tenant
from tests.conftest import Cast

pytestmark = pytest.mark.django_db


@pytest.fixture
def page(cast: Cast) -> Client:
    client = Client()
    client.post("/accounts/login/", {"login": "admin@acme.example", "password": "correct horse battery"})
    return client


def happened(cast: Cast, *types: str) -> list[Event]:
    with tenant(cast.account.id):
        for type in types:
            noun = type.partition(".")[0]
            record_event(cast.agent, type, noun, typed_id("rec", new_id()), space_id=cast.space.id)
        seal_events(cast.account.id)
        return list(Event.objects.sealed().order_by("seq"))


def read(answer: Any) -> bytes:
    async def read_all() -> bytes:
        return b"".join([piece async for piece in answer.streaming_content])

    return asyncio.run(read_all())


def text(answer: Any) -> str:
    return answer.content.decode()


def test_events_are_shown_the_latest_first_and_narrowed_down(cast: Cast, page: Client) -> None:
    events = happened(cast, "record.created", "plan.created")
    shown = page.get("/a/acme/audit/")
    assert [row["event"].seq for row in shown.context["rows"]] == [e.seq for e in reversed(events)]
    assert [row["what"] for row in shown.context["rows"]][:2] == ["plan created", "record created"]
    plans = page.get("/a/acme/audit/?noun=plan")
    assert [row["event"].type for row in plans.context["rows"]] == ["plan.created"]
    one = page.get(f"/a/acme/audit/?object={events[-2].object_id}")
    assert [row["event"].seq for row in one.context["rows"]] == [events[-2].seq]
    by = page.get(f"/a/acme/audit/?by={cast.agent.key}")
    assert len(by.context["rows"]) == 2
    here = page.get(f"/a/acme/audit/?space={cast.space.id}&until={timezone.now():%Y-%m-%d}")
    assert {row["event"].space_id for row in here.context["rows"]} == {cast.space.id}
    assert "Nothing like that happened" in text(page.get("/a/acme/audit/?noun=plan&until=2020-01-01"))


def test_a_long_trail_is_shown_in_pages(cast: Cast, page: Client) -> None:
    events = happened(cast, *["record.created"] * 60)
    first = page.get("/a/acme/audit/")
    second = page.get("/a/acme/audit/", {"page": first.context["next_token"]})
    seen = [row["event"].seq for shown in (first, second) for row in shown.context["rows"]]
    assert seen == [e.seq for e in reversed(events)]


def test_what_is_asked_for_wrongly_narrows_nothing(cast: Cast, page: Client) -> None:
    happened(cast, "record.created")
    shown = page.get("/a/acme/audit/?since=yesterday&noun=nothing&space=main")
    assert shown.status_code == 200
    assert shown.context["form"].errors


@pytest.mark.django_db(transaction=True)
def test_the_state_of_the_chain_is_shown_once_it_was_looked_through(cast: Cast, page: Client) -> None:
    events = happened(cast, "record.created")
    assert "Not verified yet" in text(page.get("/a/acme/audit/"))
    page.post("/a/acme/audit/check/")
    assert page.get("/a/acme/audit/").context["chain"].checking
    run_due_jobs()
    shown = text(page.get("/a/acme/audit/"))
    assert f"Verified to event {len(events)}" in shown
    assert "no AUDIT_KEY" in shown


@pytest.mark.django_db(transaction=True)
def test_the_trail_is_taken_away_line_by_line_and_that_is_an_event(cast: Cast, page: Client) -> None:
    events = happened(cast, "record.created", "plan.created")
    taken = page.get("/a/acme/audit/download/")
    lines = [json.loads(line) for line in read(taken).splitlines()]
    assert [line["seq"] for line in lines] == [e.seq for e in events]
    assert lines[-1]["hash"] == bytes(events[-1].hash or b"").hex()
    assert lines[-1]["previous_hash"] == lines[-2]["hash"]
    with tenant(cast.account.id):
        assert Event.objects.filter(type="audit.downloaded").count() == 1


def test_a_name_says_who_and_staff_of_the_installation_are_told_apart(cast: Cast, page: Client) -> None:
    staff = User.objects.create_user("staff@hub.example", name="Somebody Else")
    with time_machine.travel(timezone.now() + timedelta(minutes=1)), tenant(cast.account.id):
        from dataclasses import replace

        record_event(replace(cast.owner, kind="staff", user_id=staff.id), "admin.entered", "account", "acc_0")
        seal_events(cast.account.id)
        shown = text(page.get("/a/acme/audit/"))
    assert "staff of the installation" in shown
    assert "Somebody Else" not in shown
    assert "Owner" in shown or "Memory Hub" in shown
