"""Lists and calls of tools, over real sockets on both wires."""

import json
from collections.abc import Iterator
from typing import Any

import httpx2
import pytest

from accounts.scopes import PRESETS
from memoryhub.operations.base import REGISTRY, Effect
from memoryhub.operations.united import FORMS, united
from tests.conftest import Cast, make_key
from tests.memoryhub.mcp.conftest import NEWER, OLDER, Agent

FRESH = {"ttlMs": 60_000, "cacheScope": "private", "resultType": "complete"}


@pytest.fixture
def agent(live_hub: str, cast: Cast) -> Iterator[Agent]:
    _, secret = make_key(cast.teammate, cast.space)
    with httpx2.Client(base_url=live_hub, timeout=20) as http:
        yield Agent(http, secret)


def with_key(agent: Agent, cast: Cast, **fields: Any) -> Agent:
    _, secret = make_key(cast.teammate, cast.space, **fields)
    return Agent(agent.http, secret)


def names(agent: Agent, path: str = "/mcp") -> list[str]:
    return [tool["name"] for tool in agent.ask("tools/list", path=path)["result"]["tools"]]


def call(agent: Agent, name: str, arguments: Any = ..., path: str = "/mcp") -> dict[str, Any]:
    params = {"name": name} if arguments is ... else {"name": name, "arguments": arguments}
    return agent.ask("tools/call", params, path)


def the_hubs_list() -> list[dict[str, Any]]:
    """Every tool of the registry, those that share a name as one."""
    lists: dict[str, list[Any]] = {}
    for operation in REGISTRY.tools():
        lists.setdefault(operation.name, []).append(operation)
    assert {name for name, sharing in lists.items() if len(sharing) > 1} == set(FORMS)
    return [(united(*sharing) if len(sharing) > 1 else sharing[0]).tool_json() for sharing in lists.values()]


def error_in(answer: dict[str, Any]) -> dict[str, Any]:
    """The error a tool answered: in the text and nowhere else."""
    result = answer["result"]
    assert result["isError"] is True
    assert "structuredContent" not in result
    (block,) = result["content"]
    error: dict[str, Any] = json.loads(block["text"])["error"]
    return error


def test_the_list_is_the_registrys(agent: Agent) -> None:
    wanted = the_hubs_list()
    assert agent.ask("tools/list") == {"jsonrpc": "2.0", "id": 1, "result": {"tools": wanted}}
    assert agent.ask("tools/list", {})["result"]["tools"] == wanted
    newer = agent.ask_newer("tools/list", {}).json()["result"]
    assert newer["tools"] == wanted
    assert {name: newer[name] for name in FRESH} == FRESH


def test_every_older_version_has_the_same_list(agent: Agent) -> None:
    lists = [
        agent.post({"jsonrpc": "2.0", "id": 1, "method": "tools/list"}, mcp_protocol_version=version).json()
        for version in ("2024-11-05", "2025-03-26", "2025-06-18", OLDER)
    ]
    assert all(answer == lists[0] for answer in lists)


def test_a_family_has_its_own_list(agent: Agent) -> None:
    assert names(agent, "/mcp/hub") == [operation.name for operation in REGISTRY.tools("hub")]


def test_the_list_shows_what_the_scopes_allow(agent: Agent, cast: Cast) -> None:
    shown = names(with_key(agent, cast, scopes=None, preset="reader"))
    allowed = [
        operation.name
        for operation in REGISTRY.tools()
        if any(PRESETS["reader"].issuperset(way) for way in operation.ways)
    ]
    assert shown == list(dict.fromkeys(allowed))
    assert "recall" in shown
    assert "remember" not in shown


def test_a_hidden_tool_is_forbidden_and_says_what_is_missing(agent: Agent, cast: Cast) -> None:
    reader = with_key(agent, cast, scopes=None, preset="reader")
    error = error_in(call(reader, "remember", {"text": "Never stored."}))
    assert (error["code"], error["details"]) == ("forbidden", {"missing_scopes": ["memory:write"]})
    assert call(agent, "recall", {})["result"]["structuredContent"]["items"] == []


def test_an_unknown_tool_is_a_fault_of_the_protocol(agent: Agent) -> None:
    for name in ("unheard_of", "Recall", "whoami", ""):
        assert call(agent, name, {})["error"]["code"] == -32602
    answer = agent.ask_newer("tools/call", {"name": "unheard_of", "arguments": {}})
    assert (answer.status_code, answer.json()["error"]["code"]) == (400, -32602)


def test_every_address_has_the_families_of_a_key_and_no_other(agent: Agent, cast: Cast) -> None:
    elsewhere = with_key(agent, cast, families=["paths"])
    paths = [operation.name for operation in REGISTRY.tools("paths")]
    assert names(elsewhere) == names(elsewhere, "/mcp/paths") == paths
    assert call(elsewhere, "kv_get", {"ns": "n"})["error"]["code"] == -32602
    assert error_in(call(elsewhere, "recall", {"q": "tea"}))["details"]["fields"].keys() == {"query"}
    assert names(elsewhere, "/mcp/hub") == []
    assert call(elsewhere, "recall", {}, "/mcp/hub")["error"]["code"] == -32602


def test_missing_and_null_arguments_are_none_at_all(agent: Agent) -> None:
    answers = [call(agent, "recall"), call(agent, "recall", None), call(agent, "recall", {})]
    assert all(answer == answers[0] for answer in answers)
    assert answers[0]["result"]["isError"] is False


@pytest.mark.parametrize("arguments", [[], "{}", 1, [{"q": "x"}]])
def test_arguments_of_another_form_are_a_fault_of_the_protocol(agent: Agent, arguments: Any) -> None:
    assert call(agent, "recall", arguments)["error"]["code"] == -32602
    answer = agent.ask_newer("tools/call", {"name": "recall", "arguments": arguments})
    assert (answer.status_code, answer.json()["error"]["code"]) == (400, -32602)


def test_a_call_without_a_name_is_a_fault_of_the_protocol(agent: Agent) -> None:
    for params in (None, {}, {"name": None}, {"name": 5, "arguments": {}}):
        assert agent.ask("tools/call", params)["error"]["code"] == -32602


def test_an_answer_is_one_text_block_and_the_same_structured(agent: Agent) -> None:
    older = call(agent, "kv_set", {"ns": "n", "key": "k", "value": "ünï\u2028 \U0001f600"})["result"]
    assert sorted(older) == ["content", "isError", "structuredContent"]
    assert [block["type"] for block in older["content"]] == ["text"]
    assert json.loads(older["content"][0]["text"]) == older["structuredContent"]
    params = {"name": "kv_get", "arguments": {"ns": "n", "key": "k"}}
    newer = agent.ask_newer("tools/call", params).json()["result"]
    assert json.loads(newer["content"][0]["text"]) == newer["structuredContent"]
    assert newer["structuredContent"]["value"] == "ünï\u2028 \U0001f600"
    assert (newer["isError"], newer["resultType"]) == (False, "complete")


def test_a_refusal_of_a_tool_is_its_error_in_text(agent: Agent) -> None:
    for ask in (
        lambda params: agent.ask("tools/call", params),
        lambda params: agent.ask_newer("tools/call", params).json(),
    ):
        error = error_in(ask({"name": "recall", "arguments": {"limit": 1000}}))
        assert (error["code"], list(error["details"]["fields"])) == ("validation_failed", ["limit"])


def test_additional_arguments_are_tolerated_unless_they_could_widen_a_delete(agent: Agent) -> None:
    answer = call(agent, "recall", {"q": "x", "task_progress": "- [ ] step"})["result"]
    assert answer["structuredContent"]["warnings"] == ["Ignored unknown argument: task_progress"]
    for operation in REGISTRY.tools("hub"):
        if operation.effect is Effect.DESTROY:
            error = error_in(call(agent, operation.name, {"query": "acme", "dryrun": True}))
            assert error["code"] == "invalid_request"


def test_what_json_can_not_say_is_refused_by_the_name_of_the_argument(agent: Agent) -> None:
    for raw in (r'"a\u0000b"', r'"ok \ud83d"', "NaN", "1e999"):
        params = f'{{"name":"kv_set","arguments":{{"ns":"n","key":"k","value":{raw}}}}}'
        body = f'{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{params}}}'
        error = error_in(agent.post(body, mcp_protocol_version=OLDER).json())
        assert (error["code"], list(error["details"]["fields"])) == ("validation_failed", ["value"])


def test_each_call_in_a_batch_is_answered(agent: Agent) -> None:
    def message(id: int, name: str, arguments: dict[str, Any]) -> dict[str, Any]:
        params = {"name": name, "arguments": arguments}
        return {"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params}

    batch = [
        message(1, "kv_set", {"ns": "n", "key": "k", "value": 1}),
        message(2, "kv_get", {"ns": "n", "key": "k"}),
    ]
    answers = agent.post(batch).json()
    assert [answer["id"] for answer in answers] == [1, 2]
    assert answers[1]["result"]["structuredContent"]["value"] == 1


def test_the_newer_wires_headers_must_agree_with_its_message(agent: Agent) -> None:
    params = {"name": "recall", "arguments": {}}
    for headers in ({"mcp_name": "remember"}, {"mcp_method": "tools/list"}, {"mcp_name": ""}):
        answer = agent.ask_newer("tools/call", params, **headers)
        assert (answer.status_code, answer.json()["error"]["code"]) == (400, -32020)
    assert agent.ask_newer("tools/call", params).status_code == 200


def test_discovery_names_the_versions_and_the_server(agent: Agent) -> None:
    result = agent.ask_newer("server/discover", {}).json()["result"]
    assert NEWER in result["supportedVersions"]
    assert result["capabilities"]["tools"] == {"listChanged": False}
    assert result["_meta"]["io.modelcontextprotocol/serverInfo"]["name"] == "memory-hub"


def test_a_cursor_is_unknown_since_the_list_has_one_page(agent: Agent) -> None:
    assert agent.ask("tools/list", {"cursor": "abc"})["error"]["code"] == -32602
