"""The feed of events, and waiting for what comes."""

import asyncio
import functools
import json
from collections.abc import Callable, Coroutine
from time import monotonic
from typing import Any

import pytest
from django.db import connection
from django.http import HttpResponse
from django.test import AsyncClient

import accounts.tasks  # noqa: F401 (makes the handlers of jobs known)
from accounts.domain.jobs import run_due_jobs
from accounts.domain.keys import revoke_key
from memoryhub.common.ids import typed_id
from memoryhub.common.live import LISTENER
from memoryhub.common.tenancy import tenant
from memoryhub.common.threads import in_db_thread
from tests.calls import Caller, call
from tests.conftest import Cast, make_key

pytestmark = pytest.mark.django_db(transaction=True)


def awaited(scenario: Callable[..., Coroutine[Any, Any, None]]) -> Callable[..., None]:
    @functools.wraps(scenario)
    def run(**fixtures: Any) -> None:
        asyncio.run(scenario(**fixtures))

    return run


class Follower:
    def __init__(self, cast: Cast) -> None:
        self.actor, self.secret = make_key(cast.teammate, cast.space)
        run_due_jobs()
        self.own_connection: int = connection.connection.info.backend_pid
        self.after = self.read(Caller(self.secret)("GET", "events"))["next_after"]

    @staticmethod
    def read(response: HttpResponse) -> dict[str, Any]:
        assert response.status_code == 200, response.content
        return dict(json.loads(response.content))

    async def follow(self, wait: int, **query: Any) -> HttpResponse:
        headers = {"Authorization": f"Bearer {self.secret}"}
        sent = {"after": self.after, "wait": wait, **query}
        return await AsyncClient().get("/v1/events", sent, headers=headers)


@pytest.fixture
def follower(cast: Cast) -> Follower:
    return Follower(cast)


def write_and_seal(cast: Cast) -> None:
    call(cast.agent, "kv_set", ns="n", key="k", value=1)
    run_due_jobs()


def test_without_a_wait_an_empty_feed_answers_at_once(follower: Follower) -> None:
    answer = follower.read(Caller(follower.secret)("GET", f"events?after={follower.after}"))
    assert answer == {"items": [], "next_after": follower.after, "unsealed": 0}


@awaited
async def test_waiting_ends_with_the_first_event(cast: Cast, follower: Follower) -> None:
    waiting = asyncio.create_task(follower.follow(30))
    await asyncio.wait([waiting], timeout=0.2)
    assert not waiting.done()
    started = monotonic()
    await in_db_thread(write_and_seal, cast)
    answer = follower.read(await waiting)
    assert [event["type"] for event in answer["items"]] == ["value.set"]
    assert monotonic() - started < 15


@awaited
async def test_waiting_ends_empty_when_its_time_is_over(follower: Follower) -> None:
    answer = follower.read(await follower.follow(1))
    assert answer == {"items": [], "next_after": follower.after, "unsealed": 0}


@awaited
async def test_events_of_other_types_do_not_end_the_wait(cast: Cast, follower: Follower) -> None:
    waiting = asyncio.create_task(follower.follow(30, types="record.*"))
    await in_db_thread(write_and_seal, cast)
    await asyncio.wait([waiting], timeout=0.2)
    assert not waiting.done()
    await in_db_thread(call, cast.agent, "record_put", collection="tasks")
    await in_db_thread(run_due_jobs)
    assert [e["type"] for e in follower.read(await waiting)["items"]] == ["record.created"]


@awaited
async def test_a_key_revoked_while_it_waits_is_refused(cast: Cast, follower: Follower) -> None:
    waiting = asyncio.create_task(follower.follow(30))
    await asyncio.wait([waiting], timeout=0.2)
    await in_db_thread(revoke, cast, follower)
    response = await waiting
    assert (response.status_code, "WWW-Authenticate" in response) == (401, True)


@awaited
async def test_those_who_wait_hold_no_connection_and_are_all_told(cast: Cast, follower: Follower) -> None:
    before = await in_db_thread(connections_beside, follower.own_connection)
    waiting = [asyncio.create_task(follower.follow(30)) for _ in range(20)]
    await asyncio.wait(waiting, timeout=1.2)
    assert not [task for task in waiting if task.done()]
    assert await in_db_thread(connections_beside, follower.own_connection) <= before
    await in_db_thread(write_and_seal, cast)
    answers = [follower.read(await task) for task in waiting]
    assert [[event["type"] for event in answer["items"]] for answer in answers] == [["value.set"]] * 20


@pytest.mark.parametrize(
    ("query", "status", "code"),
    [
        ("wait=31", 422, "validation_failed"),
        ("wait=soon", 400, "invalid_request"),
        ("wait=-1", 422, "validation_failed"),
        ("after=x", 400, "invalid_request"),
    ],
)
def test_a_bad_argument_is_refused_without_waiting(
    follower: Follower, query: str, status: int, code: str
) -> None:
    response = Caller(follower.secret)("GET", f"events?{query}")
    assert (response.status_code, json.loads(response.content)["error"]["code"]) == (status, code)


def test_only_reading_is_served(follower: Follower) -> None:
    response = Caller(follower.secret)("POST", "events", {})
    assert (response.status_code, response["Allow"]) == (405, "GET")


def test_without_a_key_it_says_where_to_get_one() -> None:
    assert Caller("none")("GET", "events?wait=30").status_code == 401


def revoke(cast: Cast, follower: Follower) -> None:
    assert follower.actor.key_id is not None
    with tenant(cast.account.id):
        revoke_key(cast.owner, typed_id("key", follower.actor.key_id))
    run_due_jobs()


def connections_beside(own: int) -> int:
    """Not counting this one and the one that listens for all."""
    with connection.cursor() as cursor:
        cursor.execute(
            "select count(*) from pg_stat_activity where datname = current_database() and pid <> all(%s)"
            " and application_name <> %s",
            [[connection.connection.info.backend_pid, own], LISTENER],
        )
        return int(cursor.fetchone()[0])
