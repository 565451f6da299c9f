"""The endpoint's life in a server, and without one that tells it when it begins."""

import asyncio
import json
from collections.abc import Callable, Coroutine
from typing import Any

import pytest
from mcp.server import Server

from memoryhub.mcp.app import Endpoint
from memoryhub.mcp.mounts import Mount, mount_server
from tests.conftest import Cast, make_key
from tests.memoryhub.mcp.conftest import META, NEWER

DISCOVER = {"jsonrpc": "2.0", "id": 1, "method": "server/discover", "params": {"_meta": META}}


def in_endpoint(act: Callable[[Endpoint, Mount], Coroutine[Any, Any, None]]) -> None:
    async def run() -> None:
        mount = mount_server(Server[Any]("test", version="1"))
        endpoint = Endpoint({"": mount})
        try:
            await act(endpoint, mount)
        finally:
            await endpoint.stop()

    asyncio.run(run())


async def send(endpoint: Endpoint, secret: str, body: bytes, **headers: str) -> list[dict[str, Any]]:
    """The messages that the endpoint sends for one request."""
    named = {"host": "testserver", "content-type": "application/json", "x-api-key": secret, **headers}
    scope = {
        "type": "http",
        "method": "POST",
        "path": "/mcp",
        "query_string": b"",
        "headers": [(name.replace("_", "-").encode(), value.encode()) for name, value in named.items()],
    }
    sent: list[dict[str, Any]] = []
    coming = [{"type": "http.request", "body": body} if body else {"type": "http.disconnect"}]

    async def receive() -> Any:
        return coming.pop() if coming else await asyncio.Event().wait()

    async def keep(message: Any) -> None:
        sent.append(message)

    await endpoint(scope, receive, keep)
    return sent


@pytest.fixture
def secret(transactional_db: None, cast: Cast) -> str:
    _, secret = make_key(cast.teammate, cast.space)
    return secret


def test_without_lifespan_the_endpoint_starts_with_its_first_request(secret: str) -> None:
    async def act(endpoint: Endpoint, mount: Mount) -> None:
        asked = [
            send(
                endpoint,
                secret,
                json.dumps(DISCOVER).encode(),
                mcp_protocol_version=NEWER,
                mcp_method="server/discover",
            )
            for _ in range(3)
        ]
        answers = await asyncio.gather(*asked)
        assert [answer[0]["status"] for answer in answers] == [200, 200, 200]

    in_endpoint(act)


def test_starting_twice_is_starting_once() -> None:
    async def act(endpoint: Endpoint, mount: Mount) -> None:
        await asyncio.gather(endpoint.start(), endpoint.start())
        await endpoint.start()

    in_endpoint(act)


def test_an_endpoint_that_can_not_start_says_so_each_time() -> None:
    async def act(endpoint: Endpoint, mount: Mount) -> None:
        async with mount.manager.run():
            for _ in range(2):
                with pytest.raises(RuntimeError):
                    await endpoint.start()

    in_endpoint(act)


def test_stopping_what_never_started_is_nothing() -> None:
    async def act(endpoint: Endpoint, mount: Mount) -> None: ...

    in_endpoint(act)


def test_a_client_that_left_is_answered_nothing(secret: str) -> None:
    async def act(endpoint: Endpoint, mount: Mount) -> None:
        assert await send(endpoint, secret, b"") == []

    in_endpoint(act)
