"""What a running hub asks of PostgreSQL."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import httpx2
import pytest
from django.conf import settings
from django.db import connection

from tests.conftest import Cast, make_key
from tests.memoryhub.mcp.conftest import Agent

OTHERS = "from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()"
LISTENERS = 1


@pytest.fixture
def agent(live_hub: str, cast: Cast) -> Iterator[Agent]:
    _, secret = make_key(cast.teammate, cast.space)
    with httpx2.Client(base_url=live_hub, timeout=60) as http:
        yield Agent(http, secret)


def asked(question: str) -> int:
    with connection.cursor() as cursor:
        cursor.execute(question)
        row: tuple[int] = cursor.fetchone()
    return row[0]


def recall(agent: Agent) -> bool:
    answer = agent.ask("tools/call", {"name": "recall", "arguments": {"q": "anything"}})
    assert "result" in answer, answer
    return answer["result"]["isError"] is False


def test_however_many_call_at_once_connections_stay_within_the_pool(agent: Agent) -> None:
    most = asked(f"select count(*) {OTHERS}") + settings.DB_POOL["max_size"] + LISTENERS
    with ThreadPoolExecutor(32) as callers:
        calls = [callers.submit(recall, agent) for _ in range(200)]
        while not all(call.done() for call in calls):
            assert asked(f"select count(*) {OTHERS}") <= most
    assert all(call.result() for call in calls)
    assert asked(f"select count(*) {OTHERS} and state <> 'idle'") == 0


def test_calls_succeed_after_postgresql_ended_every_session(agent: Agent) -> None:
    assert recall(agent)
    assert asked(f"select count(pg_terminate_backend(pid, 10000)) {OTHERS}") > 0
    assert [recall(agent) for _ in range(20)] == [True] * 20
