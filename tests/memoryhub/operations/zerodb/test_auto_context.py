from typing import Any

import pytest

from accounts.scopes import Scope
from memoryhub.common.tenancy import tenant
from spaces.models import AutoContext, Memory
from tests.calls import call
from tests.conftest import Cast
from tests.embeddings import FakeServer
from tests.memoryhub.operations.zerodb.conftest import Ask, ask, in_session
from tests.spaces.domain.embeddings.writing import embed_all

DEFAULTS = {"enabled": False, "max_memories": 5, "min_relevance": 0.6, "auto_trace": False}


@pytest.fixture
def known(tool: Ask, meaning: FakeServer) -> dict[str, str]:
    """Text → id of what is remembered, found by meaning."""
    texts = ("The dog of the office", "The cat of the neighbours", "Failover takes long")
    ids = {text: tool("store_memory", content=text)["memory_id"] for text in texts}
    embed_all()
    return ids


def beside(answer: dict[str, Any]) -> list[str]:
    return [memory["content"] for memory in answer["_auto_context"]["memories"]]


def traces(cast: Cast) -> list[str]:
    with tenant(cast.account.id):
        return list(Memory.objects.filter(tags=["trace"]).order_by("id").values_list("text", flat=True))


def test_it_is_off_until_it_is_switched_on_and_keeps_what_was_set(tool: Ask) -> None:
    assert tool("get_auto_context_config") == DEFAULTS
    given = {"enabled": True, "max_memories": 8, "min_relevance": 0.7, "auto_trace": True}
    assert tool("configure_auto_context", **given) == given
    assert tool("get_auto_context_config") == given
    assert tool("configure_auto_context", enabled=False) == DEFAULTS
    assert tool("get_auto_context_config") == DEFAULTS


def test_it_is_kept_for_one_credential_and_one_session(tool: Ask, cast: Cast) -> None:
    ask(in_session(cast.agent, "one"), "zerodb_configure_auto_context", enabled=True)
    assert ask(in_session(cast.agent, "one"), "zerodb_get_auto_context_config")["enabled"] is True
    for other in (cast.agent, in_session(cast.agent, "two"), in_session(cast.owner, "one")):
        assert ask(other, "zerodb_get_auto_context_config") == DEFAULTS


def test_sessions_that_ended_long_ago_are_forgotten(tool: Ask, cast: Cast, time_machine: Any) -> None:
    time_machine.move_to("2026-01-01T00:00Z")
    ask(in_session(cast.agent, "old"), "zerodb_configure_auto_context", enabled=True)
    time_machine.move_to("2026-02-15T00:00Z")
    tool("configure_auto_context", enabled=True)
    with tenant(cast.account.id):
        assert list(AutoContext.objects.values_list("session", flat=True)) == [""]


def test_answers_bring_what_is_relevant_to_the_call_and_no_more_than_wanted(
    tool: Ask, known: dict[str, str]
) -> None:
    assert "_auto_context" not in tool("search_memory", query="biscuit")
    tool("configure_auto_context", enabled=True)
    answer = tool("search_memory", query="biscuit")
    assert answer["results"] == []
    assert sorted(beside(answer)) == ["The cat of the neighbours", "The dog of the office"]
    (first, second) = answer["_auto_context"]["memories"]
    assert first["relevance"] >= second["relevance"] >= 0.6
    assert {first["id"], second["id"]} <= set(known.values())
    tool("configure_auto_context", enabled=True, max_memories=1)
    assert len(beside(tool("search_memory", query="biscuit"))) == 1
    tool("configure_auto_context", enabled=True, min_relevance=1)
    assert beside(tool("search_memory", query="biscuit")) == []


def test_every_tool_but_the_two_of_the_configuration_brings_it(tool: Ask, known: dict[str, str]) -> None:
    tool("configure_auto_context", enabled=True)
    plan = tool("plan_create", title="biscuit", content="x")
    calls: dict[str, dict[str, Any]] = {
        "store_memory": {"content": "switching"},
        "search_memory": {"query": "biscuit"},
        "semantic_search": {"query": "biscuit"},
        "get_context": {},
        "embed_text": {"text": "biscuit"},
        "clear_session": {"session_id": "s"},
        "plan_get": {"artifact_id": plan["id"]},
        "plan_update": {"artifact_id": plan["id"], "content": "biscuit"},
        "plan_history": {"artifact_id": plan["id"]},
        "synthesize_context": {"query": "biscuit"},
    }
    answers = {name: tool(name, **given) for name, given in calls.items()} | {"plan_create": plan}
    told = {name: answer["_auto_context"]["query"] for name, answer in answers.items()}
    assert told == {
        **dict.fromkeys(calls, "biscuit"),
        "plan_create": "biscuit",
        "store_memory": "switching",
        **dict.fromkeys(("get_context", "clear_session", "plan_get", "plan_history"), ""),
    }
    assert "_auto_context" not in tool("get_auto_context_config")


def test_a_memory_does_not_accompany_its_own_storing(tool: Ask, known: dict[str, str]) -> None:
    tool("configure_auto_context", enabled=True)
    answer = tool("store_memory", content="The dog of the office")
    assert known["The dog of the office"] not in [m["id"] for m in answer["_auto_context"]["memories"]]


def test_who_may_not_read_memories_is_not_shown_any(cast: Cast, tool: Ask, known: dict[str, str]) -> None:
    tool("configure_auto_context", enabled=True)
    writer = cast.key(scopes=frozenset({Scope.PLANS_WRITE}))
    assert "_auto_context" not in ask(writer, "zerodb_plan_create", title="biscuit", content="x")


def test_what_fails_on_the_way_never_fails_the_call(
    tool: Ask, known: dict[str, str], meaning: FakeServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    tool("configure_auto_context", enabled=True)

    def broken(*args: object, **named: object) -> None:
        raise RuntimeError

    monkeypatch.setattr("spaces.domain.auto_context.find_memories", broken)
    answer = tool("search_memory", query="dog")
    assert [row["content"] for row in answer["results"]] == ["The dog of the office"]
    assert "_auto_context" not in answer


def test_without_a_model_words_decide_what_is_relevant(tool: Ask) -> None:
    tool("store_memory", content="Deploy on Tuesday")
    tool("configure_auto_context", enabled=True, min_relevance=0.1)
    assert beside(tool("plan_create", title="Deploy Tuesday", content="x")) == ["Deploy on Tuesday"]


def test_a_host_that_sees_the_message_asks_for_its_context(cast: Cast, known: dict[str, str]) -> None:
    answer = ask(cast.agent, "auto_context_for_message", message="biscuit")
    assert sorted(m["content"] for m in answer["memories"]) == [
        "The cat of the neighbours",
        "The dog of the office",
    ]


# Traces


def test_each_call_leaves_a_note_where_that_is_wanted(tool: Ask, cast: Cast) -> None:
    tool("configure_auto_context", enabled=True, auto_trace=True)
    tool("search_memory", query="deploy\nwindow")
    tool("store_memory", content="x" * 300)
    tool("get_context")
    tool("get_auto_context_config")
    assert traces(cast) == [
        "zerodb_search_memory: deploy window",
        f"zerodb_store_memory: {'x' * 199}…",
        "zerodb_get_context",
    ]


def test_notes_of_calls_are_found_only_by_who_asks_for_them(tool: Ask, cast: Cast) -> None:
    tool("configure_auto_context", enabled=True, auto_trace=True)
    tool("search_memory", query="deploy")
    tool("configure_auto_context", enabled=False)
    note = "zerodb_search_memory: deploy"
    assert tool("search_memory", query="deploy")["results"] == []
    assert tool("get_context")["memories"] == []
    assert call(cast.agent, "recall", q="deploy")["items"] == []
    asked = tool("search_memory", query="deploy", metadata_filter={"tags": "trace"})
    assert [row["content"] for row in asked["results"]] == [note]
    for wanted in ({"tag": "trace"}, {"kind": "note"}):
        assert [item["text"] for item in call(cast.agent, "recall", q="deploy", **wanted)["items"]] == [note]
