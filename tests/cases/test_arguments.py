"""Clients are sloppy about arguments; what they mean is not."""

import json
from collections import defaultdict
from typing import Any

import pytest

from memoryhub.operations.base import REGISTRY
from tests.cases.hub import Agent, Hub
from tests.matrix.operations import OPERATIONS, filled

DEPLOY = "The deploy window is Tuesday 14:00 UTC"


def test_null_is_the_same_as_leaving_out(agent: Agent) -> None:
    agent("remember", text=DEPLOY)
    found = agent("recall", q="deploy", subject=None, tier=None, tag=None, limit=None)
    assert [item["text"] for item in found["items"]] == [DEPLOY]


def test_null_inside_data_removes_the_field_and_beside_it_changes_nothing(agent: Agent) -> None:
    made = agent(
        "record_put", collection="c", status="open", due_at="2030-01-01", data={"owner": "ann", "n": 1}
    )
    changed = agent(
        "record_update",
        collection="c",
        id=made["record"]["id"],
        status=None,
        due_at=None,
        expected_version=None,
        data={"owner": None},
    )["record"]
    assert (changed["status"], changed["due_at"], changed["data"]) == ("open", "2030-01-01", {"n": 1})


@pytest.mark.parametrize("sent", ["null", ["null"], {"null": 1}])
@pytest.mark.parametrize(
    ("name", "argument"),
    [
        ("recall", "tier"),
        ("record_query", "due_before"),
        ("record_query", "limit"),
        ("get_context", "journal_days"),
        ("journal_write", "kind"),
        ("action_propose", "expires_at"),
        ("forget", "dry_run"),
    ],
)
def test_null_as_text_is_refused_by_the_name_of_its_argument(
    agent: Agent, name: str, argument: str, sent: Any
) -> None:
    needed = {
        "record_query": {"collection": "c"},
        "journal_write": {"date": "2026-03-02", "summary": "x"},
        "action_propose": PROPOSAL,
        "forget": {"query": "acme"},
    }.get(name, {})
    refusal = agent(name, **{**needed, argument: sent})
    assert refusal.status in (400, 422)
    assert argument in refusal.error["message"]


PROPOSAL = {"class": "mail.send", "summary": "Send it", "payload": {"to": "ann"}, "idempotency_key": "k"}


def test_objects_and_lists_may_come_as_json_text(agent: Agent) -> None:
    record = agent("record_put", collection="leads", data='{"stage":"new"}')["record"]
    memory = agent("remember", text="Ann likes tea", tags='["a","b"]')["memory"]
    action = agent("action_propose", **{**PROPOSAL, "payload": '{"to":"ann"}'})["action"]
    entry = agent("journal_write", date="2026-03-02", summary="x", decisions='["go"]')["entry"]
    assert (record["data"], memory["tags"], action["payload"]) == (
        {"stage": "new"},
        ["a", "b"],
        {"to": "ann"},
    )
    assert entry["decisions"] == ["go"]


@pytest.mark.parametrize(
    ("name", "arguments", "argument"),
    [
        ("remember", {"text": "x", "tags": "a,b"}, "tags"),
        ("record_put", {"collection": "c", "data": "stage=new"}, "data"),
        ("record_put", {"collection": "c", "data": "[1]"}, "data"),
        ("action_propose", {**PROPOSAL, "payload": '"text"'}, "payload"),
        ("forget", {"ids": "mem_1,mem_2"}, "ids"),
    ],
)
def test_text_that_is_no_such_json_is_refused_in_one_line(
    agent: Agent, name: str, arguments: dict[str, Any], argument: str
) -> None:
    refusal = agent(name, **arguments)
    assert (refusal.code, refusal.fields) == ("invalid_request", [argument])
    assert "\n" not in refusal.error["message"]


@pytest.mark.parametrize(
    "value", ['{"a":1}', "[1]", "null", "true", "5", "", {"a": 1}, [1], None, True, 5, 0.5]
)
def test_a_value_of_any_type_comes_back_as_it_was_sent(agent: Agent, value: Any) -> None:
    agent("kv_set", ns="n", key="k", value=value)
    got = agent("kv_get", ns="n", key="k")["value"]
    assert (got, type(got)) == (value, type(value))


def test_booleans_and_whole_numbers_may_come_as_text(agent: Agent) -> None:
    agent("remember", text=DEPLOY, pinned="true")
    rehearsed = agent("forget", query="deploy", dry_run="true")
    assert (rehearsed["dry_run"], rehearsed["matched"]) == (True, {"memories": 1})
    assert len(agent("recall", q="deploy", limit="5")["items"]) == 1
    assert agent("forget", query="deploy", dry_run="false")["deleted"] == {"memories": 1}


def test_version_0_as_text_still_creates_only(agent: Agent) -> None:
    assert agent("kv_set", ns="n", key="k", value=1, expected_version="0")["created"] is True
    assert agent("kv_set", ns="n", key="k", value=2, expected_version="0").code == "conflict"


@pytest.mark.parametrize("flag", ["yes", "True", "TRUE", "1", "", " true", 1, 0, [True], {"a": True}])
def test_a_deletion_with_an_unreadable_flag_does_nothing(agent: Agent, flag: Any) -> None:
    agent("remember", text=DEPLOY)
    assert agent("forget", query="deploy", dry_run=flag).code == "invalid_request"
    assert agent("recall", q="deploy")["count"] == 1


@pytest.mark.parametrize(
    "limit", [True, "five", "5.5", 5.5, "", "0x5", "1e1", " 5", [5, 6], "999999999999999999999"]
)
def test_what_is_no_whole_number_is_refused(agent: Agent, limit: Any) -> None:
    if agent.wire == "rest" and limit in ("", [5, 6]):
        pytest.skip("in a query an empty number is an absent one, and of several the last holds")
    assert agent("recall", q="x", limit=limit).fields == ["limit"]


@pytest.mark.parametrize("limit", [0, -1, 101, 10**15])
def test_a_number_out_of_its_range_is_refused(agent: Agent, limit: int) -> None:
    refusal = agent("recall", q="x", limit=limit)
    assert (refusal.code, refusal.fields) == ("validation_failed", ["limit"])


def test_missing_arguments_are_none_and_a_list_of_them_is_a_fault_of_the_protocol(hub: Hub) -> None:
    agent = Agent(hub, "mcp", hub.key())
    for params in ({"name": "get_context"}, {"name": "get_context", "arguments": None}):
        assert agent.say("tools/call", params)["result"]["isError"] is False
    for arguments in ([], "text", 1):
        assert agent.over_mcp("get_context", arguments).code == -32602


def test_readers_and_writers_ignore_what_they_do_not_know_and_say_so(agent: Agent) -> None:
    remembered = agent("remember", text=DEPLOY, task_progress="- [ ] step")
    assert remembered["warnings"] == ["Ignored unknown argument: task_progress"]
    found = agent("recall", q="deploy", task_progress="- [ ] step")
    assert (found["count"], found["warnings"]) == (1, ["Ignored unknown argument: task_progress"])


@pytest.mark.parametrize("unknown", ["dryrun", "dry-run", "scope", "Query", "limit", "task_progress"])
def test_deletions_refuse_what_they_do_not_know(agent: Agent, unknown: str) -> None:
    agent("remember", text=DEPLOY)
    refusal = agent("forget", query="deploy", **{unknown: True})
    assert (refusal.code, unknown in refusal.error["message"]) == ("invalid_request", True)
    assert agent("recall", q="deploy")["count"] == 1


def test_each_optional_argument_of_each_tool_may_be_null(hub: Hub) -> None:
    """What is refused with null is what is refused without: no argument takes another branch."""
    agent = Agent(hub, "mcp", hub.key())
    for tool in agent.say("tools/list")["result"]["tools"]:
        required = tool["inputSchema"].get("required", [])
        optional = [
            n for n, s in tool["inputSchema"]["properties"].items() if n not in required and "type" in s
        ]
        call = CALLS.get(tool["name"]) or filled(OPERATIONS[tool["name"]].call, defaultdict(str))
        without, sent = (
            agent(tool["name"], **call),
            agent(tool["name"], **{**dict.fromkeys(optional), **call}),
        )
        assert (sent.status, sent.code, set(sent.body)) == (without.status, without.code, set(without.body))


CALLS: dict[str, dict[str, Any]] = {
    "get_context": {},
    "remember": {"text": "Ann likes tea"},
    "recall": {},
    "forget": {},
    "journal_write": {"date": "2026-03-02"},
    "record_put": {"collection": "c"},
    "record_query": {"collection": "c"},
    "record_update": {"collection": "c", "id": "rec_" + "0" * 32},
    "action_propose": PROPOSAL,
    "action_list": {},
    "action_transition": {"id": "A99", "from": "pending", "to": "cancelled"},
    "kv_get": {"ns": "n"},
    "kv_set": {"ns": "n", "key": "k", "value": 1},
    "dream_next_job": {},
    "dream_submit": {"run_id": "run_" + "0" * 32, "result": {}},
    "memory_list_records": {},
    "memory_search_records": {"query": "tea"},
    "memory_record_summary": {"text": "Tea was had"},
    "memory_list_summaries": {},
    "decisions_list_spaces": {},
    "ledger": {"action": "list"},
    "search_memory": {"query": "tea"},
    "recall_context": {"query": "tea"},
}


def test_a_name_that_is_no_tool_is_a_fault_of_the_protocol(hub: Hub) -> None:
    agent = Agent(hub, "mcp", hub.key())
    assert agent.over_mcp("no_such_tool", {}).code == -32602
    assert {o.name for o in REGISTRY.tools()} <= CALLS.keys() | OPERATIONS.keys()


def test_a_body_that_is_no_object_is_refused(hub: Hub) -> None:
    agent = Agent(hub, "rest", hub.key())
    for body in ([], "text", 1, None):
        assert agent.send("POST", "/v1/memories", json.dumps(body).encode()).code == "invalid_request"
