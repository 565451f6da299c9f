"""Clients without a key go all the way by themselves: refused, shown the way, registered, let in, asking for more,
going on. Their person answers on the page that people see."""

import json
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any
from uuid import UUID

import anyio
import httpx2
import pytest
from mcp import Client
from mcp.client.auth import OAuthClientProvider
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.auth import (
    AuthorizationCodeResult,
    OAuthClientInformationFull,
    OAuthClientMetadata,
    OAuthToken,
)

from accounts.actor import system_actor
from accounts.models import Application, Grant, User
from accounts.scopes import Scope
from memoryhub.mcp.tools import Tools
from memoryhub.operations.scopes import first_scopes_at
from tests.clients.node import HERE, OFFICIAL, node, run_node
from tests.clients.person import Person, at_hand, documented
from tests.conftest import Cast

pytestmark = pytest.mark.clients

REDIRECT = "http://localhost:43117/callback"
FIRST = first_scopes_at("/mcp")
WIDER = sorted([*FIRST, "memory:delete"])


@pytest.fixture
def person(cast: Cast) -> Iterator[Person]:
    """A member of the team, who will be asked to sign in."""
    with httpx2.Client(timeout=20) as browser:
        yield Person(User.objects.get(id=cast.teammate.user_id).email, browser)


@contextmanager
def way_of(way: str) -> Iterator[str]:
    """The address of a metadata document, or nothing for a client that registers itself."""
    if way == "document":
        with documented(REDIRECT) as url:
            yield url
    else:
        yield ""


class Kept:
    """What a client keeps between its runs."""

    tokens: OAuthToken | None = None
    client: OAuthClientInformationFull | None = None

    async def get_tokens(self) -> OAuthToken | None:
        return self.tokens

    async def set_tokens(self, tokens: OAuthToken) -> None:
        self.tokens = tokens

    async def get_client_info(self) -> OAuthClientInformationFull | None:
        return self.client

    async def set_client_info(self, client_info: OAuthClientInformationFull) -> None:
        self.client = client_info


def provider_of(url: str, kept: Kept, person: Person, document: str) -> OAuthClientProvider:
    back: list[str] = []

    async def redirect(to: str) -> None:
        back.append(await anyio.to_thread.run_sync(person.answer, to))

    async def callback() -> AuthorizationCodeResult:
        found = httpx2.URL(back.pop()).params
        return AuthorizationCodeResult(code=found["code"], state=found["state"], iss=found["iss"])

    metadata = OAuthClientMetadata.model_validate(
        {"client_name": "journey", "redirect_uris": [REDIRECT], "token_endpoint_auth_method": "none"}
    )
    return OAuthClientProvider(url, metadata, kept, redirect, callback, document or None)


async def journey(url: str, person: Person, mode: Any, document: str) -> dict[str, Any]:
    kept = Kept()
    provider = provider_of(url, kept, person, document)
    async with httpx2.AsyncClient(auth=provider, timeout=20) as http:
        async with Client(streamable_http_client(url, http_client=http), mode=mode) as client:
            tools = await client.list_tools()
            first = kept.tokens and kept.tokens.scope
            stepped = await client.call_tool("forget", {"query": "nothing like it", "dry_run": True})
            before = kept.tokens
            provider.context.token_expiry_time = time.time() - 1
            after = await client.call_tool("recall", {})
            return {
                "client": kept.client and kept.client.client_id,
                "tools": [tool.name for tool in tools.tools],
                "first": first,
                "wider": before and before.scope,
                "stepped": stepped.structured_content,
                "after": after.structured_content,
                "refreshed": before != kept.tokens,
            }


def check(report: dict[str, Any], person: Person, document: str) -> None:
    let_in = replace(system_actor(UUID(int=0)), scopes=frozenset(map(Scope, FIRST)))
    assert report["tools"] == [tool["name"] for tool in Tools(None).listed(let_in)]
    assert sorted(report["first"].split()) == sorted(FIRST)
    assert sorted(report["wider"].split()) == WIDER
    assert [sorted(asked) for asked in person.asked] == [sorted(FIRST), WIDER]
    assert (report["stepped"]["dry_run"], report["after"]["count"]) == (True, 0)
    assert report["refreshed"] is True
    kept = Application.objects.get()
    assert (kept.client_id, kept.registration_source) == (report["client"], "cimd" if document else "dcr")
    assert document in ("", kept.client_id)
    assert {grant.host for grant in Grant.objects.all()} == {"localhost"}


@pytest.mark.parametrize("way", ["registration", "document"])
@pytest.mark.parametrize("mode", ["auto", "legacy"])
def test_the_python_client_goes_all_the_way(live_hub: str, person: Person, mode: str, way: str) -> None:
    with way_of(way) as document:
        report = anyio.run(journey, f"{live_hub}/mcp", person, mode, document)
    check(report, person, document)


@pytest.mark.parametrize("way", ["registration", "document"])
@pytest.mark.parametrize("flavour", ["v1", "v2", "v2-auto"])
def test_the_typescript_clients_go_all_the_way(live_hub: str, person: Person, flavour: str, way: str) -> None:
    with way_of(way) as document, at_hand(person) as asking:
        done = run_node(HERE / "oauth.mjs", flavour, f"{live_hub}/mcp", PERSON=asking, DOCUMENT=document)
    assert done.returncode == 0, done.stderr
    report = json.loads(done.stdout)
    assert report["issuer"] == live_hub
    check(report, person, document)


def test_the_conformance_suite_finds_nothing_amiss_in_the_authorization_server(
    live_hub: str, person: Person
) -> None:
    port = 43118
    registered = httpx2.post(
        f"{live_hub}/oauth/register",
        json={"redirect_uris": [f"http://127.0.0.1:{port}/callback"], "token_endpoint_auth_method": "none"},
    ).json()
    suite = OFFICIAL / "conformance" / "dist" / "index.js"
    asked = ["--url", live_hub, "--resource", f"{live_hub}/mcp", "--client-id", registered["client_id"]]
    command = [node(), str(suite), "authorization", *asked, "-p", str(port)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as process:
        said = []
        for line in process.stdout or ():
            said.append(line)
            if f"{live_hub}/oauth/authorize?" in line:
                httpx2.get(person.answer(line[line.index(live_hub) :].strip()))
        assert process.wait(30) == 0, "".join(said)
    print("".join(said))
    assert person.asked
    assert "Total: 3 passed, 0 failed" in said[-1]
