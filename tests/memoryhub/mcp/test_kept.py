"""Records, the journal and values over MCP: what agents send, exact to the byte, and what they are told."""

import json
from typing import Any

import pytest

from tests.memoryhub.mcp.conftest import Agent

pytestmark = pytest.mark.django_db


def tool(agent: Agent, name: str, arguments: Any) -> dict[str, Any]:
    """The answer; its text block and its structured form are the same."""
    result = agent.ask("tools/call", {"name": name, "arguments": arguments}, path="/mcp/hub")["result"]
    assert not result.get("isError"), result
    assert json.loads(result["content"][0]["text"]) == result["structuredContent"]
    return dict(result["structuredContent"])


def told(result: dict[str, Any]) -> dict[str, Any]:
    """The error of a refused call: one text block, and no structured form."""
    assert result["isError"] is True
    (block,) = result["content"]
    return dict(json.loads(block["text"])["error"])


def refused(agent: Agent, name: str, arguments: Any) -> dict[str, Any]:
    return told(agent.ask("tools/call", {"name": name, "arguments": arguments}, path="/mcp/hub")["result"])


def test_a_record_lives_through_both_wires(agent: Agent) -> None:
    made = tool(agent, "record_put", {"collection": "wires", "key": "a", "data": '{"x": 1, "y": 2}'})
    changed = agent.ask_newer(
        "tools/call",
        {
            "name": "record_update",
            "arguments": {
                "collection": "wires",
                "id": made["record"]["id"],
                "status": None,
                "due_at": None,
                "data": {"y": None},
                "expected_version": "1",
            },
        },
    ).json()["result"]["structuredContent"]
    assert (changed["record"]["data"], changed["record"]["version"]) == ({"x": 1}, 2)
    listed = tool(agent, "record_query", {"collection": "wires", "limit": "5", "task_progress": "- [ ] step"})
    assert listed["items"] == [changed["record"]]
    assert listed["warnings"] == ["Ignored unknown argument: task_progress"]
    stale = refused(
        agent, "record_update", {"collection": "wires", "id": made["record"]["id"], "expected_version": 1}
    )
    assert (stale["code"], stale["details"]) == (
        "conflict",
        {"expected": 1, "actual": 2, "current": {"version": 2}},
    )


@pytest.mark.parametrize(
    "value", ['"null"', "null", '"{\\"a\\":1}"', "[1,2.5,true,null]", "12345678901234567890"]
)
def test_a_value_comes_back_as_it_was_sent(agent: Agent, value: str) -> None:
    key = f"sent {value}"
    assert tool(agent, "kv_set", {"ns": "sent", "key": key, "value": json.loads(value)})["created"] is True
    assert tool(agent, "kv_get", {"ns": "sent", "key": key})["value"] == json.loads(value)


def test_a_journal_entry_is_written_and_merged(agent: Agent) -> None:
    tool(agent, "journal_write", {"date": "2020-02-29", "summary": "one", "decisions": '["a"]'})
    merged = tool(
        agent,
        "journal_write",
        {"date": "2020-02-29", "summary": "two", "decisions": ["a", "b"], "merge": "true"},
    )
    assert (merged["entry"]["summary"], merged["entry"]["decisions"], merged["created"]) == (
        "one\ntwo",
        ["a", "b"],
        False,
    )


@pytest.mark.parametrize(
    ("name", "arguments", "field"),
    [
        ("record_put", r'{"collection":"c","data":{"k\u0000":1}}', "data"),
        ("record_put", r'{"collection":"c","data":{"a":"ok \ud83d"}}', "data.a"),
        ("record_put", r'{"collection":"c","key":"a\u0000b"}', "key"),
        ("kv_set", r'{"ns":"n","key":"k","value":"a\u0000b"}', "value"),
        ("kv_set", r'{"ns":"n","key":"half \udc00","value":1}', "key"),
        ("journal_write", r'{"date":"2020-01-01","summary":"x","open_loops":["a\u0000b"]}', "open_loops[0]"),
    ],
)
def test_text_that_cannot_be_stored_is_refused_by_name(
    agent: Agent, name: str, arguments: str, field: str
) -> None:
    body = (
        '{"jsonrpc":"2.0","id":1,"method":"tools/call",'
        f'"params":{{"name":"{name}","arguments":{arguments}}}}}'
    )
    answer = agent.post(body, "/mcp/hub").json()
    error = told(answer["result"])
    assert error["code"] == "validation_failed"
    assert next(iter(error["details"]["fields"])).startswith(field)


@pytest.mark.parametrize("number", ["NaN", "Infinity", "-Infinity", "1e999"])
def test_numbers_that_are_none_are_refused(agent: Agent, number: str) -> None:
    body = (
        '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"kv_set",'
        f'"arguments":{{"ns":"n","key":"number","value":{{"a":{number}}}}}}}}}'
    )
    response = agent.post(body, "/mcp/hub")
    assert response.status_code < 500
    refused_key = refused(agent, "kv_get", {"ns": "n", "key": "number"})
    assert refused_key["code"] == "not_found"


@pytest.mark.parametrize(
    ("name", "arguments", "code"),
    [
        ("kv_set", {"ns": "_system", "key": "k", "value": 1}, "reserved_namespace"),
        ("kv_set", {"ns": "n", "key": "k"}, "validation_failed"),
        ("kv_set", {"ns": "n", "key": "k", "value": "x" * 70_000}, "payload_too_large"),
        ("kv_get", {"ns": "n", "key": "none"}, "not_found"),
        ("record_put", {"collection": "c", "data": "[1]"}, "invalid_request"),
        ("record_put", {"collection": "c", "due_at": "null"}, "validation_failed"),
        ("record_update", {"collection": "c", "id": "null"}, "not_found"),
        ("record_query", {"collection": "c", "cursor": "null"}, "invalid_request"),
        ("journal_write", {"date": "today", "summary": "x"}, "validation_failed"),
        ("journal_write", {"date": "2020-01-01", "decisions": "a,b"}, "invalid_request"),
    ],
)
def test_a_refusal_says_its_code(agent: Agent, name: str, arguments: dict[str, Any], code: str) -> None:
    assert refused(agent, name, arguments)["code"] == code
