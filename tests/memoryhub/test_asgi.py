"""The web process as its server sees it."""

import asyncio
from typing import Any

import pytest
from django.core.exceptions import ImproperlyConfigured

from memoryhub.asgi import build_application, most_of


class Server:
    """Plays the server's part: what it sends, and what it got."""

    def __init__(self, *messages: dict[str, Any]) -> None:
        self.messages = list(messages)
        self.got: list[dict[str, Any]] = []

    async def receive(self) -> Any:
        """A server that has nothing more to say keeps whoever asks waiting."""
        return self.messages.pop(0) if self.messages else await asyncio.Event().wait()

    async def send(self, message: dict[str, Any]) -> None:
        self.got.append(message)


def serve(scope: dict[str, Any], *messages: dict[str, Any]) -> list[dict[str, Any]]:
    server = Server(*messages)
    asyncio.run(build_application()(scope, server.receive, server.send))
    return server.got


def test_nothing_is_served_while_keys_are_hashed_with_the_secret_of_something_else(settings: Any) -> None:
    settings.KEY_PEPPER = settings.SECRET_KEY
    with pytest.raises(ImproperlyConfigured, match="Set KEY_PEPPER"):
        build_application()


def test_the_lifespan_begins_and_ends() -> None:
    got = serve({"type": "lifespan"}, {"type": "lifespan.startup"}, {"type": "lifespan.shutdown"})
    assert [message["type"] for message in got] == ["lifespan.startup.complete", "lifespan.shutdown.complete"]


def test_a_socket_at_an_address_that_serves_none_is_closed() -> None:
    headers = [(b"host", b"testserver"), (b"origin", b"http://testserver")]
    got = serve(
        {"type": "websocket", "path": "/ws/nowhere", "headers": headers}, {"type": "websocket.connect"}
    )
    assert got == [{"type": "websocket.close", "code": 4404}]


@pytest.mark.parametrize("path", ["/mcp", "/mcp/", "/mcp/hub", "/mcp/unheard-of", "/mcp/ledger"])
def test_agents_paths_go_to_the_endpoint(path: str) -> None:
    """Seen by a Host that isn't ours: the endpoint calls the request misdirected, Django a bad one."""
    scope = {"type": "http", "method": "POST", "path": path, "headers": [(b"host", b"evil.example")]}
    (start, _) = serve(scope)
    assert start["status"] == 421


@pytest.mark.parametrize(
    ("path", "large"),
    [
        ("/v1/import", True),
        ("/a/acme/main/data/", True),
        ("/a/acme/main/data/x/import/", False),
        ("/a/acme/main/plans/new/", False),
        ("/accounts/login/", False),
        ("/oauth/register", False),
        ("/v1/import/x", False),
        ("/", False),
    ],
)
def test_only_what_takes_files_is_sent_more_than_a_form(settings: Any, path: str, large: bool) -> None:
    """All of it is kept on the disk before anybody is asked who they are."""
    assert (most_of(path) > settings.BODY_LIMIT) is large
    assert (most_of(path) > settings.IMPORT_BYTES) is large
