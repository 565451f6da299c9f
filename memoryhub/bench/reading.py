"""CPU of a small read, through the whole application but without sockets, taken in turns with the bound."""

import asyncio
import gc
import json
import time
from collections.abc import Awaitable, Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from itertools import count
from statistics import median
from typing import Any

from accounts.domain.credentials import authenticate
from memoryhub.asgi import build_application
from memoryhub.bench import bare
from memoryhub.bench.hub import Hub
from memoryhub.bench.table import Row
from memoryhub.bench.unasked import nothing_asked
from memoryhub.common.tenancy import tenant
from spaces.domain.values import set_value

KEYS = 500
VALUE = {"note": "x" * 400}
OLDER, NEWER = "2025-11-25", "2026-07-28"
META = {
    "io.modelcontextprotocol/protocolVersion": NEWER,
    "io.modelcontextprotocol/clientCapabilities": {},
    "io.modelcontextprotocol/clientInfo": {"name": "bench", "version": "1"},
}
OLDER_LIMIT, NEWER_LIMIT = 1.4, 2.0
PERMISSION, PERMISSION_LIMIT = "permission checks: a call with them to one without", 1.1

Application = Callable[[Any, Any, Any], Awaitable[None]]


@dataclass
class Reading:
    """One way to read: where it is asked, and the body for a key."""

    name: str
    application: Application
    path: str
    body: Callable[[str], dict[str, Any]]
    headers: dict[str, str] = field(default_factory=dict)
    at_most: float | None = None
    while_asking: Callable[[], AbstractContextManager[None]] = nullcontext
    spent: list[float] = field(default_factory=list)


def measure(hub: Hub, rounds: int, calls: int) -> list[Row]:
    store_values(hub)
    readings = ways(hub)
    asyncio.run(take_turns(readings, rounds, calls))
    bound, asked, _, unasked_ = readings
    rows = [Row(way.name, min(way.spent), "us", ratio(way, bound), at_most=way.at_most) for way in readings]
    cost = min(asked.spent) - min(unasked_.spent)
    return [*rows, Row(PERMISSION, cost, "us", ratio(asked, unasked_), at_most=PERMISSION_LIMIT)]


def ratio(way: Reading, bound: Reading) -> float:
    """The median of the rounds': within a round both were disturbed alike by whatever else runs."""
    return median(mine / theirs for mine, theirs in zip(way.spent, bound.spent, strict=True))


def store_values(hub: Hub) -> None:
    actor = authenticate({"x-api-key": hub.key}, address="")
    with tenant(actor.account_id):
        for number in range(KEYS):
            set_value(actor, "bench", f"k{number}", VALUE)


def ways(hub: Hub) -> list[Reading]:
    def asked(key: str) -> dict[str, Any]:
        return {"actor": hub.key, "ns": "bench", "key": key}

    def called(key: str) -> dict[str, Any]:
        params = {"name": "kv_get", "arguments": {"ns": "bench", "key": key}}
        return {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}

    def called_newer(key: str) -> dict[str, Any]:
        message = called(key)
        return {**message, "params": {"_meta": META, **message["params"]}}

    application = build_application()
    older = {"authorization": f"Bearer {hub.key}", "mcp-protocol-version": OLDER}
    newer = {**older, "mcp-protocol-version": NEWER, "mcp-method": "tools/call", "mcp-name": "kv_get"}
    return [
        Reading("bare route, the same read", bare.application, "/read", asked),
        Reading(f"MCP {OLDER}, kv_get", application, "/mcp", called, older, OLDER_LIMIT),
        Reading(f"MCP {NEWER}, kv_get", application, "/mcp", called_newer, newer, NEWER_LIMIT),
        Reading(
            f"MCP {OLDER}, kv_get, nothing asked",
            application,
            "/mcp",
            called,
            older,
            while_asking=nothing_asked,
        ),
    ]


async def take_turns(readings: list[Reading], rounds: int, calls: int) -> None:
    keys = count()
    for way in readings:
        await spend(way, keys, calls)
    gc.collect()
    gc.freeze()
    for _ in range(rounds):
        for way in readings:
            way.spent.append(await spend(way, keys, calls))


async def spend(way: Reading, keys: "count[int]", calls: int) -> float:
    """Microseconds of CPU for a call, of all threads."""
    with way.while_asking():
        before = time.process_time()
        for _ in range(calls):
            await ask(way, f"k{next(keys) % KEYS}")
        return (time.process_time() - before) / calls * 1e6


async def ask(way: Reading, key: str) -> None:
    body = json.dumps(way.body(key)).encode()
    sent: list[Any] = []

    async def receive() -> dict[str, Any]:
        """Asked once: all of them read one body and answer it with JSON."""
        return {"type": "http.request", "body": body, "more_body": False}

    async def send(message: Any) -> None:
        sent.append(message)

    await way.application(scope_of(way), receive, send)
    if sent[0]["status"] != 200 or b'"isError":true' in sent[1]["body"]:
        raise RuntimeError(f"{way.name} failed: {sent}")


def scope_of(way: Reading) -> dict[str, Any]:
    headers = {"host": "localhost", "content-type": "application/json", "user-agent": "bench", **way.headers}
    return {
        "type": "http",
        "http_version": "1.1",
        "method": "POST",
        "scheme": "http",
        "path": way.path,
        "query_string": b"",
        "server": ("localhost", 80),
        "client": ("127.0.0.1", 1),
        "headers": [(name.encode(), value.encode()) for name, value in headers.items()],
    }
