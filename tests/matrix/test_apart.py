"""Who gets in where threads and connections of their own serve: the feed, the agents' endpoints, open pages."""

import asyncio
from typing import Any

import pytest
from channels.routing import URLRouter
from channels.testing import WebsocketCommunicator

from accounts.scopes import Role
from memoryhub.operations.base import REGISTRY
from memoryhub.routing import websocket_urlpatterns
from tests.inprocess import InProcess
from tests.matrix.asking import outcomes, over_rest
from tests.matrix.operations import expected
from tests.matrix.world import World

pytestmark = pytest.mark.django_db

ENDPOINTS = ["/mcp", "/mcp/connector", "/mcp/decisions", "/mcp/hub", "/mcp/paths", "/mcp/zerodb"]
MEMBERS = [str(role) for role in Role]
READERS_OF_CLOSED = ["owner", "admin", "approver"]
LIVE = r"^a/(?P<account>[-\w]+)/(?P<space>[-\w]+)/live$"

# Socket address → who may listen there, by the address that is opened.
SOCKETS: dict[str, dict[str, list[str]]] = {
    LIVE: {"/a/acme/main/live": MEMBERS, "/a/acme/closed/live": READERS_OF_CLOSED, "/a/acme/none/live": []},
    "": {"/": [], "/ws/anything": []},
}
LIST_TOOLS = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}


def test_each_credential_may_follow_the_feed_as_is_declared(committed_world: World) -> None:
    expecting = {who: expected(k, "event_list") for who, k in committed_world.knockers.items()}
    assert outcomes(committed_world, "event_list", over_rest) == expecting


def test_every_endpoint_of_agents_is_declared() -> None:
    served = ["/mcp", *(f"/mcp/{family}" for family in {o.family for o in REGISTRY.tools()})]
    assert sorted(served) == ENDPOINTS, "say in ENDPOINTS where agents connect"


@pytest.mark.parametrize("path", ENDPOINTS)
def test_an_endpoint_of_agents_is_open_to_keys_that_hold(
    committed_world: World, in_process: InProcess, path: str
) -> None:
    for who, knocker in committed_world.knockers.items():
        answer = in_process.request("POST", path, json=LIST_TOOLS, headers=knocker.headers)
        assert answer.status_code == (401 if knocker.refused else 200), who
        if knocker.refused:
            assert answer.headers["www-authenticate"].endswith(
                f'/.well-known/oauth-protected-resource{path}"'
            )


@pytest.mark.parametrize("person", ["owner", "superuser"])
def test_a_browsers_session_opens_no_endpoint_of_agents(
    committed_world: World, in_process: InProcess, person: str
) -> None:
    answer = in_process.request(
        "POST", "/mcp", json=LIST_TOOLS, headers={"cookie": cookies(committed_world, person)}
    )
    assert answer.status_code == 401


def test_every_socket_is_declared() -> None:
    served = [str(pattern.pattern) for pattern in websocket_urlpatterns]
    assert served == list(SOCKETS), "say in SOCKETS who may listen"


@pytest.mark.parametrize("address", [a for declared in SOCKETS.values() for a in declared])
def test_a_socket_is_open_to_those_who_are_declared(committed_world: World, address: str) -> None:
    everybody = ["nobody", *committed_world.ours.people, *committed_world.strangers]
    cookie = {who: cookies(committed_world, who) for who in everybody}
    allowed = next(declared[address] for declared in SOCKETS.values() if address in declared)
    assert [who for who in everybody if asyncio.run(opens(address, cookie[who]))] == allowed


@pytest.mark.parametrize("origin", ["https://evil.example", "null", "http://testserver.evil.example", ""])
def test_a_socket_is_closed_to_pages_from_elsewhere(committed_world: World, origin: str) -> None:
    assert not asyncio.run(opens("/a/acme/main/live", cookies(committed_world, "owner"), origin))


def test_a_key_opens_no_socket(committed_world: World) -> None:
    key = committed_world.knockers["key of the owner"].secret
    assert not asyncio.run(
        opens("/a/acme/main/live", "", extra=[(b"authorization", f"Bearer {key}".encode())])
    )


def cookies(world: World, who: str) -> str:
    return world.browser(who).cookies.output(header="", sep=";").strip()


async def opens(
    address: str, cookie: str, origin: str = "http://testserver", extra: list[Any] | None = None
) -> bool:
    headers = [(b"host", b"testserver"), (b"cookie", cookie.encode()), *(extra or [])]
    if origin:
        headers.append((b"origin", origin.encode()))
    socket = WebsocketCommunicator(URLRouter(websocket_urlpatterns), address, headers)
    connected, _ = await socket.connect(20)
    await socket.disconnect()
    return connected
