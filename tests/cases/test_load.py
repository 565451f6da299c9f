"""Many clients at once, most of them waiting: a real server takes no more connections than its pool has."""

import asyncio
from concurrent.futures import ThreadPoolExecutor
from contextlib import AsyncExitStack

import httpx2
from django.conf import settings
from django.db import connection
from websockets.asyncio.client import connect

from tests.cases.hub import Agent, Browser, Hub

SOCKETS, WAITING, CALLS = 50, 20, 150
OTHERS = "datname = current_database() and usename = 'hub_app'"
LISTENERS = 1


def test_those_who_wait_hold_no_connection_and_those_who_call_share_a_few(
    hub: Hub, owner: Browser, live_process: str
) -> None:
    agent = Agent(hub, "rest", hub.key())
    agent("remember", text="Ann likes tea")
    with ThreadPoolExecutor(1) as watcher:  # on one connection all the time
        before = watcher.submit(connections).result()
        peak, statuses, feeds = asyncio.run(crowd(hub, owner, agent, live_process, watcher))
        watcher.submit(lambda: connection.close()).result()
    assert statuses == [200] * CALLS
    assert feeds == [200] * WAITING
    assert peak - before <= settings.DB_POOL["max_size"] + LISTENERS


async def crowd(
    hub: Hub, owner: Browser, agent: Agent, url: str, watcher: ThreadPoolExecutor
) -> tuple[int, list[int], list[int]]:
    """The most connections that were seen, how the calls were answered, and how those who waited."""
    live = url.replace("http", "ws", 1) + f"{hub.place}/live"
    limits = httpx2.Limits(max_connections=CALLS + WAITING)
    async with AsyncExitStack() as open_ones:
        http = await open_ones.enter_async_context(
            httpx2.AsyncClient(base_url=url, headers=agent.headers, timeout=90, limits=limits)
        )
        for _ in range(SOCKETS):
            await open_ones.enter_async_context(connect(live, origin=url, additional_headers=owner.headers()))
        waiting = [
            asyncio.ensure_future(http.get("/v1/events?wait=6&types=nothing.*")) for _ in range(WAITING)
        ]
        calls = [asyncio.ensure_future(http.get("/v1/memories?q=tea")) for _ in range(CALLS)]
        peak = 0
        while not all(task.done() for task in [*waiting, *calls]):
            peak = max(peak, await asyncio.get_running_loop().run_in_executor(watcher, connections))
        return peak, [c.result().status_code for c in calls], [w.result().status_code for w in waiting]


def connections() -> int:
    """But for the one that this is asked on."""
    with connection.cursor() as cursor:
        cursor.execute(f"select count(*) from pg_stat_activity where {OTHERS} and pid <> pg_backend_pid()")
        row: tuple[int] = cursor.fetchone()
    return row[0]
