"""CPU of one call in each dialect, beside the same call in the hub's own, through the whole application."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from itertools import count
from typing import Any

from accounts.domain.credentials import authenticate
from memoryhub.asgi import build_application
from memoryhub.bench.hub import Hub
from memoryhub.bench.reading import OLDER, Reading, ratio, take_turns
from memoryhub.bench.table import Row
from memoryhub.common.tenancy import tenant
from spaces.domain.memories import remember

MEMORIES = 500
LIMIT = 1.15
FOUND = 10

Arguments = Callable[[str], dict[str, Any]]


@dataclass(frozen=True)
class Call:
    """A tool as it is asked for at an address."""

    place: str
    tool: str
    arguments: Arguments


def asked(key: str) -> str:
    return f"record {key}"


SAME: dict[str, list[Call]] = {
    "search": [
        Call("hub", "recall", lambda key: {"q": asked(key), "limit": FOUND}),
        Call("paths", "search_memory", lambda key: {"query": asked(key), "limit": FOUND}),
        Call("zerodb", "zerodb_search_memory", lambda key: {"query": asked(key), "limit": FOUND}),
        Call("decisions", "memory_search_records", lambda key: {"query": asked(key), "page_size": FOUND}),
    ],
    "write": [
        Call("hub", "remember", lambda key: {"text": said()}),
        Call("paths", "remember", lambda key: {"content": said(), "path": "notes/bench"}),
        Call("zerodb", "zerodb_store_memory", lambda key: {"content": said()}),
    ],
    "search, joined": [
        Call("hub", "recall", lambda key: {"q": asked(key), "limit": FOUND}),
        Call("", "recall", lambda key: {"q": asked(key), "limit": FOUND}),
    ],
    "search of everything": [
        Call("", "search", lambda key: {"query": asked(key)}),
        Call("connector", "search", lambda key: {"query": asked(key)}),
    ],
    "summary": [
        Call("", "memory_record_summary", lambda key: summary()),
        Call("decisions", "memory_record_summary", lambda key: summary()),
    ],
    "transaction": [
        Call("", "ledger", lambda key: transaction()),
        Call("paths", "ledger", lambda key: transaction()),
    ],
}
"""The same in each dialect that has it, the hub's own first; what one family alone has, at the hub's address first."""
numbers = count()


def said() -> str:
    return f"Entry {next(numbers)} of the benchmark tells of nothing in particular"


def summary() -> dict[str, Any]:
    return {"items": [{"kind": "fact", "text": said()}], "session": "bench"}


def transaction() -> dict[str, Any]:
    return {"action": "add", "type": "expense", "item": said(), "amount": "4.20", "currency": "CHF"}


def measure(hub: Hub, rounds: int, calls: int) -> list[Row]:
    store(hub)
    return [row for name, same in SAME.items() for row in compared(hub, name, same, rounds, calls)]


def compared(hub: Hub, name: str, same: list[Call], rounds: int, calls: int) -> list[Row]:
    """The first one is what the others are held to."""
    application = build_application()
    headers = {"authorization": f"Bearer {hub.key}", "mcp-protocol-version": OLDER}
    ways = [
        Reading(
            f"{name}, {call.place or 'all'}: {call.tool}",
            application,
            f"/mcp/{call.place}".rstrip("/"),
            called(call.tool, call.arguments),
            headers,
            LIMIT if call is not same[0] else None,
        )
        for call in same
    ]
    asyncio.run(take_turns(ways, rounds, calls))
    return [Row(way.name, min(way.spent), "us", ratio(way, ways[0]), at_most=way.at_most) for way in ways]


def called(tool: str, arguments: Arguments) -> Callable[[str], dict[str, Any]]:
    return lambda key: {
        "jsonrpc": "2.0",
        "id": 1,
        "method": "tools/call",
        "params": {"name": tool, "arguments": arguments(key)},
    }


def store(hub: Hub) -> None:
    actor = authenticate({"x-api-key": hub.key}, address="")
    with tenant(actor.account_id):
        for number in range(MEMORIES):
            remember(actor, text=f"record k{number} says that shelf {number % 40} holds {number % 7} boxes")
