"""CPU of one call in each dialect, beside the same call in the hub's own, through the whole application."""

import asyncio
from collections.abc import Callable
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

SEARCHES: dict[str, tuple[str, Arguments]] = {
    "hub": ("recall", lambda key: {"q": f"record {key}", "limit": FOUND}),
    "paths": ("search_memory", lambda key: {"query": f"record {key}", "limit": FOUND}),
    "zerodb": ("zerodb_search_memory", lambda key: {"query": f"record {key}", "limit": FOUND}),
}
numbers = count()
WRITES: dict[str, tuple[str, Arguments]] = {
    "hub": ("remember", lambda key: {"text": said()}),
    "paths": ("remember", lambda key: {"content": said(), "path": "notes/bench"}),
    "zerodb": ("zerodb_store_memory", lambda key: {"content": said()}),
}


def said() -> str:
    return f"Entry {next(numbers)} of the benchmark tells of nothing in particular"


def measure(hub: Hub, rounds: int, calls: int) -> list[Row]:
    store(hub)
    return [*compared(hub, "search", SEARCHES, rounds, calls), *compared(hub, "write", WRITES, rounds, calls)]


def compared(
    hub: Hub, name: str, dialects: dict[str, tuple[str, Arguments]], rounds: int, calls: int
) -> list[Row]:
    """The hub's own comes first, and is what the others are held to."""
    application = build_application()
    headers = {"authorization": f"Bearer {hub.key}", "mcp-protocol-version": OLDER}
    ways = [
        Reading(
            f"{name}, {family}: {tool}",
            application,
            f"/mcp/{family}",
            called(tool, arguments),
            headers,
            LIMIT if family != "hub" else None,
        )
        for family, (tool, arguments) in dialects.items()
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
