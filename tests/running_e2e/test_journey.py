"""An agent and a person, from the first key to the receipt, over the network: embedded, and as processes apart."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import httpx2 as httpx
import pytest
from mcp import Client
from mcp.client.streamable_http import streamable_http_client
from websockets.sync.client import ClientConnection, connect
from websockets.typing import Origin

from tests.running_e2e.apart import REDIS, apart
from tests.running_e2e.harness import PEOPLE, hub, person_named, until

PROPOSAL = {
    "class": "mail.send",
    "summary": "Tell the team that the release is out",
    "payload": {"to": "team@example.com", "text": "It is out."},
    "idempotency_key": "release-mail",
}


@pytest.fixture
def person() -> Iterator[Browser]:
    with httpx.Client(follow_redirects=True, timeout=30) as http:
        yield Browser(http)


needs_redis = pytest.mark.skipif(
    REDIS is None, reason="REDIS IS MISSING, so separate processes go untested: apt-get install redis-server"
)


@pytest.fixture(params=[*PEOPLE, pytest.param("apart", marks=needs_redis)])
def first(request: pytest.FixtureRequest, place: Path) -> Iterator[dict[str, str]]:
    """What the first run left, of an instance that serves: embedded for this person, or in processes apart."""
    with ExitStack() as stack:
        if request.param == "apart":
            owner = stack.enter_context(person_named(PEOPLE[0], place))
            yield stack.enter_context(apart(owner))[0]
        else:
            running = stack.enter_context(hub(stack.enter_context(person_named(request.param, place))))
            running.start()
            yield running.first_run


class Agent:
    """One agent, with the key of the first run, over MCP."""

    def __init__(self, first: dict[str, str]) -> None:
        self.first = first

    def call(self, tool: str, **arguments: Any) -> dict[str, Any]:
        return asyncio.run(self._call(tool, arguments))

    async def _call(self, tool: str, arguments: dict[str, Any]) -> dict[str, Any]:
        headers = {"Authorization": f"Bearer {self.first['agent_key']}"}
        async with httpx.AsyncClient(headers=headers) as http:
            async with Client(
                streamable_http_client(self.first["mcp_url"], http_client=http), mode="legacy"
            ) as client:
                result = await client.call_tool(tool, arguments)
        assert not result.is_error, result.content
        assert result.structured_content is not None
        return dict(result.structured_content)


class Browser:
    """One person, without JavaScript."""

    def __init__(self, http: httpx.Client) -> None:
        self.http = http

    def submit(self, page: str, *, having: str, **fields: str) -> httpx.Response:
        """Open a page and send its form that contains `having`, hidden fields and all."""
        opened = self.http.get(page)
        assert opened.status_code == 200, opened.text
        forms = re.findall(r"<form.*?</form>", opened.text, re.S)
        form = next(found for found in forms if having in found)
        hidden = dict(re.findall(r'<input type="hidden" name="(\w+)" value="([^"]*)"', form))
        action = re.search(r' action="([^"]*)"', form)
        target = opened.url.join(action[1] if action else "")
        return self.http.post(target, data={**hidden, **fields}, headers={"Origin": _origin(page)})

    def become_owner(self, link: str) -> str:
        """The address of the team's pages."""
        person = {
            "name": "Ada",
            "email": "ada@example.com",
            "password": "correct horse battery",
            "team": "Ada & Co",
        }
        welcomed = self.submit(link, having='name="email"', **person)
        assert welcomed.status_code == 200, welcomed.text
        assert httpx.get(link, timeout=30).status_code == 410, "the link works once"
        assert self.http.get(link).url == welcomed.url, "it leads whom it let in to their team"
        return str(welcomed.url.join(".."))

    def watch(self, page: str) -> ClientConnection:
        """The socket of an open page, which hears of changes."""
        cookies = "; ".join(f"{name}={value}" for name, value in self.http.cookies.items())
        address = page.replace("http", "ws", 1)
        return connect(address, additional_headers={"Cookie": cookies}, origin=Origin(_origin(page)))


def _origin(url: str) -> str:
    parsed = httpx.URL(url)
    return f"{parsed.scheme}://{parsed.netloc.decode()}"


def test_an_agent_proposes_a_person_sees_it_and_approves_and_the_agent_reports(
    first: dict[str, str], person: Browser
) -> None:
    agent = Agent(first)
    agent.call("remember", text="The release goes out on a Thursday.")
    team = person.become_owner(first["owner_url"])
    with person.watch(f"{team}main/live") as hints:
        before = json.loads(hints.recv(timeout=30))
        proposed = agent.call("action_propose", **PROPOSAL)
        after = json.loads(hints.recv(timeout=30))
    assert (after["topic"], after["version"] > before["version"]) == ("inbox", True)
    approved = person.submit(proposed["approve_url"], having="/approve/")
    assert approved.status_code == 200, approved.text
    short = proposed["action"]["id"]
    assert [item["status"] for item in agent.call("action_list")["items"]] == ["approved"]
    agent.call("action_transition", id=short, **{"from": "approved", "to": "executing"})
    agent.call(
        "action_transition", id=short, **{"from": "executing", "to": "done"}, receipt={"message": "42"}
    )
    assert "Receipt, as the agent reported it" in person.http.get(proposed["approve_url"]).text
    recalled = agent.call("recall", q="which day is the release?")
    assert [item["text"] for item in recalled["items"]] == ["The release goes out on a Thursday."]
    types = {"action.proposed", "action.approved", "action.done"}
    until(lambda: _sealed(first, types), "a worker that seals the events")


@needs_redis
def test_while_redis_is_away_agents_go_on_and_their_work_is_done_once_it_is_back(place: Path) -> None:
    with person_named(PEOPLE[0], place) as owner, apart(owner) as (first, redis):
        agent = Agent(first)
        redis.kill()
        agent.call("remember", text="Redis is away.")
        agent.call("action_propose", **PROPOSAL)
        redis.start()
        until(lambda: _sealed(first, {"memory.created", "action.proposed"}), "a worker that seals the events")


def _sealed(first: dict[str, str], types: set[str]) -> bool:
    """Events get their numbers from a worker, which woke up by the broker or the sweep."""
    headers = {"X-API-Key": first["agent_key"]}
    feed = httpx.get(f"{first['url']}/v1/events?limit=500", headers=headers).raise_for_status().json()
    told = [event["type"] for event in feed["items"]]
    return feed["unsealed"] == 0 and types <= set(told)
