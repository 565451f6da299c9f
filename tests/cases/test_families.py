"""One memory under several dialects, and the session that a client's header names: over the whole application."""

import json
from typing import Any

import pytest

from tests.cases.hub import Agent, Hub


@pytest.fixture
def client(hub: Hub) -> Agent:
    return Agent(hub, "mcp", hub.key())


def tool(client: Agent, family: str, name: str, session: str = "", **arguments: Any) -> dict[str, Any]:
    message = {
        "jsonrpc": "2.0",
        "id": 1,
        "method": "tools/call",
        "params": {"name": name, "arguments": arguments},
    }
    headers = {"mcp-session-id": session} if session else {}
    answer = client.post(json.dumps(message).encode(), f"/mcp/{family}", **headers)
    result: dict[str, Any] = answer.json()["result"]
    assert not result["isError"], result
    assert result["structuredContent"] == json.loads(result["content"][0]["text"])
    structured: dict[str, Any] = result["structuredContent"]
    return structured


def test_what_one_family_stores_every_other_finds(client: Agent) -> None:
    metadata = {"tags": ["ui"], "user_id": "u"}
    id = tool(client, "zerodb", "zerodb_store_memory", content="Ana prefers dark mode", metadata=metadata)[
        "memory_id"
    ]
    by_hub = tool(client, "hub", "recall", q="dark mode")["items"][0]
    by_paths = tool(client, "paths", "search_memory", query="dark mode")["results"][0]
    by_connector = tool(client, "connector", "search", query="dark mode")["results"][0]
    assert [by_hub["id"], by_paths["reference"], by_connector["id"]] == [id] * 3
    fetched = tool(client, "connector", "fetch", id=id)
    assert (by_hub["tags"], fetched["metadata"]["tags"]) == (["ui"], ["ui"])
    assert {by_hub["origin"], by_paths["origin"], fetched["metadata"]["origin"]} == {"agent"}


def test_what_a_path_keeps_is_found_with_its_path(client: Agent) -> None:
    path = f"projects/{client.hub.space.slug}/decisions"
    reference = tool(client, "paths", "remember", content="Invoices go out on the first", path=path)[
        "reference"
    ]
    (row,) = tool(client, "zerodb", "zerodb_search_memory", query="invoices")["results"]
    assert (row["id"], row["path"]) == (reference, path)


def test_the_session_of_the_header_has_its_own_memories_and_configuration(client: Agent) -> None:
    tool(client, "zerodb", "zerodb_store_memory", "one", content="In session one")
    tool(client, "zerodb", "zerodb_configure_auto_context", "one", enabled=True)
    assert tool(client, "zerodb", "zerodb_get_context", "one")["count"] == 1
    assert tool(client, "zerodb", "zerodb_get_context", "two")["count"] == 0
    assert tool(client, "zerodb", "zerodb_get_auto_context_config", "one")["enabled"] is True
    assert tool(client, "zerodb", "zerodb_get_auto_context_config", "two")["enabled"] is False
    assert tool(client, "zerodb", "zerodb_clear_session", "one")["deleted_count"] == 1


def test_a_host_asks_for_the_context_of_a_message_over_rest(client: Agent) -> None:
    tool(client, "zerodb", "zerodb_store_memory", content="Deploy on Tuesday")
    answer = client.send("POST", "/v1/auto-context", json.dumps({"message": "deploy on tuesday"}).encode())
    assert [memory["content"] for memory in answer["memories"]] == ["Deploy on Tuesday"]
    assert client.send("POST", "/v1/auto-context", b"{}").status == 422
