"""How clients connect: what they send before and around a call."""

import json
from typing import Any

import pytest

from tests.cases.hub import Agent, Hub

PING: dict[str, Any] = {"jsonrpc": "2.0", "id": 1, "method": "ping"}


@pytest.fixture
def client(hub: Hub) -> Agent:
    return Agent(hub, "mcp", hub.key())


@pytest.mark.parametrize(
    "message",
    [
        {"method": "notifications/initialized"},
        {"method": "notifications/cancelled", "params": {"requestId": "unknown"}},
        {"method": "notifications/nobody_knows"},
        {"id": 7, "result": {}},
        {"id": 7, "error": {"code": 1, "message": "no"}},
    ],
)
def test_what_is_owed_no_answer_gets_none(client: Agent, message: dict[str, Any]) -> None:
    answer = client.post(json.dumps({"jsonrpc": "2.0", **message}).encode())
    assert (answer.status_code, answer.content) == (202, b"")


@pytest.mark.parametrize("id", [0, "", "a", 2**53])
def test_the_id_comes_back_as_it_was_sent(client: Agent, id: object) -> None:
    assert client.post(json.dumps({**PING, "id": id}).encode()).json() == {
        "jsonrpc": "2.0",
        "id": id,
        "result": {},
    }


@pytest.mark.parametrize(
    ("body", "code"),
    [
        ("", -32700),
        ("{", -32700),
        ("[]", -32600),
        ("null", -32600),
        ('"text"', -32600),
        (json.dumps([PING]), -32600),
        (json.dumps({**PING, "id": None}), -32600),
        (json.dumps({**PING, "id": 1.5}), -32600),
        (json.dumps({"id": 1, "method": "ping"}), -32600),
        (json.dumps({**PING, "method": 5}), -32600),
        (json.dumps({**PING, "method": "no/such"}), -32601),
        (json.dumps({**PING, "params": []}), -32602),
    ],
)
def test_a_broken_envelope_is_a_fault_of_the_protocol(client: Agent, body: str, code: int) -> None:
    answer = client.post(body.encode(), **{"mcp-protocol-version": "2025-11-25"})
    assert answer.json()["error"]["code"] == code


def test_a_call_may_carry_a_progress_token_and_need_not_begin_with_initialize(client: Agent) -> None:
    said = client.say("tools/call", {"name": "recall", "arguments": {}, "_meta": {"progressToken": 0}})
    assert said["result"]["structuredContent"]["count"] == 0


@pytest.mark.parametrize("accept", ["application/json", "*/*", "text/event-stream", "text/html", ""])
@pytest.mark.parametrize("path", ["/mcp", "/mcp/", "/mcp/hub"])
def test_whatever_is_accepted_json_is_answered_and_nothing_redirected(
    client: Agent, accept: str, path: str
) -> None:
    answer = client.post(json.dumps(PING).encode(), path, accept=accept)
    assert (answer.status_code, answer.headers["content-type"]) == (200, "application/json")


@pytest.mark.parametrize(
    ("wanted", "spoken"),
    [
        ("2025-03-26", "2025-03-26"),
        ("2025-06-18", "2025-06-18"),
        ("2025-11-25", "2025-11-25"),
        ("2099-01-01", "2025-11-25"),
        ("bogus", "2025-11-25"),
    ],
)
def test_initialize_speaks_what_both_can(client: Agent, wanted: str, spoken: str) -> None:
    params = {"protocolVersion": wanted, "capabilities": {}, "clientInfo": {"name": "x", "version": "1"}}
    assert client.say("initialize", params)["result"]["protocolVersion"] == spoken


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"mcp-protocol-version": "bogus"}, 400),
        ({"mcp-protocol-version": "2025-06-18"}, 200),
        ({"content-type": "text/plain"}, 415),
        ({"content-encoding": "gzip"}, 415),
        ({"origin": "https://evil.example"}, 403),
        ({"origin": "null"}, 403),
        ({"host": "evil.example"}, 421),
        ({"authorization": "Bearer mh_live_nonsense"}, 401),
        ({"authorization": "Basic eDp5"}, 401),
    ],
)
def test_headers_that_do_not_fit_are_told_apart(client: Agent, headers: dict[str, str], status: int) -> None:
    assert client.post(json.dumps(PING).encode(), **headers).status_code == status


@pytest.mark.parametrize("method", ["GET", "HEAD", "DELETE", "PUT"])
def test_other_methods_are_told_what_is_allowed(client: Agent, method: str) -> None:
    answer = client.hub.app.request(method, "/mcp", headers=client.headers)
    assert (answer.status_code, answer.headers["allow"]) == (405, "POST")


@pytest.mark.parametrize("path", ["/mcp", "/mcp/hub"])
def test_a_client_without_a_key_finds_the_way_to_one(client: Agent, path: str) -> None:
    refused = client.hub.app.request("POST", path, json=PING)
    assert refused.status_code == 401
    where = refused.headers["www-authenticate"].partition('resource_metadata="')[2].rstrip('"')
    metadata = client.hub.app.request("GET", where)
    assert (metadata.status_code, metadata.json()["resource"]) == (200, f"http://testserver{path}")
    assert (
        client.hub.app.request("GET", "/.well-known/oauth-protected-resource")
        .json()["resource"]
        .endswith("/mcp")
    )


@pytest.mark.parametrize("scopes", [["memory:read"], ["memory:read", "space:read"], ["actions:propose"]])
def test_a_key_without_a_scope_is_told_which_is_missing(hub: Hub, scopes: list[str]) -> None:
    for wire in ("mcp", "rest"):
        refusal = Agent(hub, wire, hub.key(scopes=scopes))("remember", text="x")
        assert (refusal.code, refusal.error["details"]) == ("forbidden", {"missing_scopes": ["memory:write"]})


TOO_LONG = (
    "zerodb_get_auto_context_config"  # by one, with the longest prefix; clients of that family know it so
)


def test_every_tool_is_listed_in_a_form_that_every_client_takes(client: Agent) -> None:
    """Names that survive a client's prefix, plain objects without composition, and a truthful output.

    What two families share answers in two forms, so that its output has none that could be told.
    """
    tools = client.say("tools/list")["result"]["tools"]
    assert {tool["name"] for tool in tools if "outputSchema" not in tool} == {"remember", "recall"}
    for tool in tools:
        assert tool["name"].replace("_", "").isalnum()
        assert len("mcp__plugin_memory-hub_memory-hub__" + tool["name"]) <= 64 or tool["name"] == TOO_LONG
        for schema in (tool["inputSchema"], tool.get("outputSchema", {"type": "object"})):
            assert schema["type"] == "object"
            assert not {"oneOf", "anyOf", "allOf", "$ref"} & set(json.dumps(schema).replace('"', " ").split())
