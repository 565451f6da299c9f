"""The two ways to an answer on the older wire: past the SDK's kernel, and through it where spans are wanted."""

import asyncio
import json
from typing import Any

import pytest
from mcp.server import Server
from opentelemetry import trace
from starlette.requests import Request

from memoryhub.mcp import handshake
from memoryhub.mcp.callers import Caller
from memoryhub.mcp.mounts import Mount, mount_server, mount_tools
from tests.conftest import Cast, make_key
from tests.memoryhub.mcp.conftest import OLDER

MESSAGES: list[Any] = [
    {"method": "tools/list"},
    {"method": "tools/list", "params": {"cursor": "x"}},
    {"method": "tools/call", "params": {"name": "recall", "arguments": {"q": "x", "unheard_of": None}}},
    {"method": "tools/call", "params": {"name": "kv_get", "arguments": {"ns": "n", "key": "unheard-of"}}},
    {"method": "tools/call", "params": {"name": "unheard_of"}},
    {"method": "tools/call", "params": {"name": "kv_get", "arguments": []}},
    {"method": "tools/call", "params": {}},
    {"method": "ping"},
]


@pytest.fixture
def traced(monkeypatch: pytest.MonkeyPatch) -> Mount:
    monkeypatch.setattr(trace, "get_tracer_provider", trace.NoOpTracerProvider)
    return mount_tools(None)


def answers(mount: Mount, secret: str) -> list[Any]:
    async def ask(message: Any) -> Any:
        headers = {"x-api-key": secret, "mcp-session-id": "s"}
        raw = [(name.encode(), value.encode()) for name, value in headers.items()]
        scope = {"type": "http", "headers": raw, Caller.SCOPE_KEY: Caller(headers, None, "/mcp")}
        response = await handshake.respond(
            mount, Request(scope), OLDER, {"jsonrpc": "2.0", "id": 1, **message}
        )
        return response.status_code, json.loads(response.body)

    async def ask_all() -> list[Any]:
        return [await ask(message) for message in MESSAGES]

    return asyncio.run(ask_all())


def test_spans_cost_nothing_where_nobody_takes_them() -> None:
    mount = mount_tools("hub")
    assert mount.tools is not None
    assert len(mount.server.middleware) == 1


def test_with_a_tracer_every_message_goes_through_the_kernel(traced: Mount) -> None:
    assert traced.tools is None
    assert len(traced.server.middleware) == 2


def test_both_ways_give_the_same_answers(transactional_db: None, cast: Cast, traced: Mount) -> None:
    _, secret = make_key(cast.teammate, cast.space)
    past_it = answers(mount_tools(None), secret)
    assert past_it == answers(traced, secret)
    assert [status for status, _ in past_it] == [200] * len(MESSAGES)
    assert ["error" in answer for _, answer in past_it] == [
        False,
        True,
        False,
        False,
        True,
        True,
        True,
        False,
    ]


def test_a_server_that_is_not_ours_is_never_passed_by() -> None:
    assert mount_server(Server[Any]("other", version="1")).tools is None
