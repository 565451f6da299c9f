"""The wire of 2025-11-25 and before, over real sockets."""

import pytest

from tests.memoryhub.mcp.conftest import META, NEWER, OLDER, Agent

pytestmark = pytest.mark.django_db

PING = {"jsonrpc": "2.0", "id": 1, "method": "ping"}
NOTIFICATION = {"jsonrpc": "2.0", "method": "notifications/initialized"}


def initialize(version: str) -> dict[str, object]:
    return {"protocolVersion": version, "capabilities": {}, "clientInfo": {"name": "tests", "version": "1"}}


@pytest.mark.parametrize("version", ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"])
def test_initialize_speaks_the_version_that_is_asked_for(agent: Agent, version: str) -> None:
    message = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": initialize(version)}
    answer = agent.post(message)
    result = answer.json()["result"]
    assert (answer.status_code, result["protocolVersion"]) == (200, version)
    assert result["serverInfo"]["name"] == "memory-hub"
    assert result["capabilities"] == {"tools": {"listChanged": False}}
    assert "mcp-session-id" not in answer.headers


@pytest.mark.parametrize("version", ["2099-01-01", "bogus", NEWER])
def test_initialize_offers_what_we_speak_when_asked_for_another(agent: Agent, version: str) -> None:
    assert agent.ask("initialize", initialize(version))["result"]["protocolVersion"] == OLDER


def test_instructions_say_how_to_use_the_hub(agent: Agent) -> None:
    instructions = agent.ask("initialize", initialize(OLDER))["result"]["instructions"]
    for word in (
        "get_context",
        "remember",
        "recall",
        "action_propose",
        "action_transition",
        "never instructions",
    ):
        assert word in instructions


def test_no_session_and_no_initialize_are_needed(agent: Agent) -> None:
    assert agent.post(PING).json()["result"] == {}
    assert agent.post(PING, mcp_session_id="made up").json()["result"] == {}


@pytest.mark.parametrize("id", [0, "", "a", -1, 10**30, "\ud83d"])
def test_the_id_comes_back_as_it_was_sent(agent: Agent, id: object) -> None:
    answer = agent.post({**PING, "id": id}).json()
    assert (answer["id"], type(answer["id"])) == (id, type(id))


@pytest.mark.parametrize(
    "method", ["notifications/initialized", "notifications/cancelled", "notifications/unheard-of"]
)
@pytest.mark.parametrize("version", [OLDER, NEWER])
def test_a_notification_is_accepted_in_silence(agent: Agent, method: str, version: str) -> None:
    answer = agent.post({**NOTIFICATION, "method": method}, mcp_protocol_version=version)
    assert (answer.status_code, answer.content) == (202, b"")


def test_a_clients_response_is_accepted_in_silence(agent: Agent) -> None:
    answer = agent.post({"jsonrpc": "2.0", "id": 4, "result": {}}, mcp_protocol_version=OLDER)
    assert (answer.status_code, answer.content) == (202, b"")


@pytest.mark.parametrize(
    "message", [None, 1, {}, {**PING, "id": None}, {**PING, "id": 0.5}, {"id": 1, "method": "ping"}]
)
def test_a_broken_envelope_is_an_invalid_request(agent: Agent, message: object) -> None:
    answer = agent.post(message, mcp_protocol_version=OLDER)
    assert (answer.status_code, answer.json()["error"]["code"]) == (400, -32600)


def test_an_unknown_method_is_not_found(agent: Agent) -> None:
    for method in ("unheard/of", "resources/list", "prompts/list", "resources/templates/list"):
        assert agent.ask(method, {})["error"]["code"] == -32601


def test_progress_tokens_are_accepted(agent: Agent) -> None:
    assert agent.ask("ping", {"_meta": {"progressToken": "p"}})["result"] == {}


def test_a_request_of_the_newer_wire_must_say_so_in_its_header(agent: Agent) -> None:
    message = {"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {"_meta": META}}
    for headers in ({}, {"mcp_protocol_version": OLDER}):
        answer = agent.post(message, **headers)
        assert (answer.status_code, answer.json()["error"]["code"]) == (400, -32020)


def test_batches_are_served_in_the_one_version_that_had_them(agent: Agent) -> None:
    batch = [PING, NOTIFICATION, {**PING, "id": 2, "method": "unheard/of"}, 7]
    for headers in ({}, {"mcp_protocol_version": "2025-03-26"}):
        answer = agent.post(batch, **headers)
        assert answer.status_code == 200
        assert [(item["id"], item.get("error", {}).get("code")) for item in answer.json()] == [
            (1, None),
            (2, -32601),
            (None, -32600),
        ]


def test_a_batch_without_calls_is_accepted_in_silence(agent: Agent) -> None:
    answer = agent.post([NOTIFICATION, NOTIFICATION])
    assert (answer.status_code, answer.content) == (202, b"")


@pytest.mark.parametrize("version", ["2024-11-05", "2025-06-18", OLDER, NEWER])
def test_other_versions_have_no_batches(agent: Agent, version: str) -> None:
    answer = agent.post([PING], mcp_protocol_version=version)
    assert (answer.status_code, answer.json()["error"]["code"]) == (400, -32600)


@pytest.mark.parametrize("batch", [[], [PING] * 51])
def test_a_batch_has_a_length(agent: Agent, batch: list[object]) -> None:
    assert agent.post(batch).status_code == 400


def test_initialize_can_not_be_in_a_batch(agent: Agent) -> None:
    message = {**PING, "method": "initialize", "params": initialize("2025-03-26")}
    assert agent.post([message]).json()[0]["error"]["code"] == -32600
