"""The tools that two families share, as the whole hub serves them."""

import json
from typing import Any

import pytest
from mcp.shared.exceptions import MCPError

import memoryhub.operations.catalogue  # noqa: F401
from accounts.actor import Actor
from memoryhub.common.errors import ValidationFailed
from memoryhub.mcp.tools import Tools
from memoryhub.operations.base import REGISTRY
from memoryhub.operations.united import FORMS
from tests.conftest import Cast

pytestmark = pytest.mark.django_db
WHOLE = Tools(None)


def call(actor: Actor, name: str, **arguments: Any) -> dict[str, Any]:
    return WHOLE.find(name, actor)(actor, arguments)


def test_every_name_that_families_share_is_united() -> None:
    families: dict[str, set[str]] = {}
    for operation in REGISTRY.tools():
        families.setdefault(operation.name, set()).add(operation.family)
    assert {n: f for n, f in families.items() if len(f) > 1} == {n: set(f) for n, f in FORMS.items()}


def test_the_argument_that_is_sent_chooses_the_form_of_the_answer(cast: Cast) -> None:
    assert call(cast.agent, "remember", text="Ana lives in Porto")["memory"]["text"] == "Ana lives in Porto"
    assert call(cast.agent, "remember", content="Ana drinks tea", path="people/ana")["path"] == "people/ana"
    assert [item["text"] for item in call(cast.agent, "recall", q="Porto")["items"]] == ["Ana lives in Porto"]
    assert [r["content"] for r in call(cast.agent, "recall", query="tea")["results"]] == ["Ana drinks tea"]
    assert call(cast.agent, "recall")["search"] == "newest"


def test_each_form_has_its_own_limits_and_defaults(cast: Cast) -> None:
    long = "tea " * 600
    with pytest.raises(ValidationFailed) as caught:
        call(cast.agent, "remember", text=long)
    assert list(caught.value.fields) == ["text"]
    assert call(cast.agent, "remember", content=long, path="notes")["created"] is True
    for number in range(30):
        call(cast.agent, "remember", text=f"Tea number {number}")
    assert call(cast.agent, "recall", q="tea")["count"] == 20
    assert call(cast.agent, "recall", query="tea")["count"] == 5
    assert call(cast.agent, "recall", q="tea", limit=25)["count"] == 25
    with pytest.raises(ValidationFailed) as caught:
        call(cast.agent, "recall", query="tea", limit=25)
    assert list(caught.value.fields) == ["limit"]


@pytest.mark.parametrize(
    ("name", "sent"),
    [("remember", {"text": "a", "content": "b", "path": "c"}), ("recall", {"q": "a", "query": "b"})],
)
def test_both_spellings_at_once_are_refused(cast: Cast, name: str, sent: dict[str, Any]) -> None:
    with pytest.raises(ValidationFailed):
        call(cast.agent, name, **sent)
    assert call(cast.agent, "recall")["items"] == []


def test_null_is_not_sent(cast: Cast) -> None:
    answer = call(cast.agent, "remember", text="Tea", content=None, path=None, create_project=None)
    assert (answer["created"], "warnings" in answer) == (True, False)
    assert call(cast.agent, "recall", q=None, query="tea")["results"][0]["content"] == "Tea"


def test_content_needs_its_path(cast: Cast) -> None:
    with pytest.raises(ValidationFailed) as caught:
        call(cast.agent, "remember", content="Tea")
    assert list(caught.value.fields) == ["path"]


def test_what_belongs_to_the_other_form_is_ignored_and_said(cast: Cast) -> None:
    answer = call(cast.agent, "remember", text="Tea", path="notes")
    assert answer["warnings"] == ["Ignored unknown argument: path"]


def test_a_key_that_shows_one_family_gets_that_familys_tool(cast: Cast) -> None:
    for family in ("hub", "paths"):
        actor = cast.key(families=frozenset({family}))
        assert WHOLE.find("remember", actor) is REGISTRY.get("remember", family)
    with pytest.raises(MCPError):
        WHOLE.find("remember", cast.key(families=frozenset({"decisions"})))


def test_the_united_tools_have_one_flat_schema_of_input_and_none_of_output(cast: Cast) -> None:
    tools = {tool["name"]: tool for tool in WHOLE.listed(cast.agent)}
    remember, recall = tools["remember"], tools["recall"]
    assert {"text", "content", "path", "create_project", "tier"} <= set(remember["inputSchema"]["properties"])
    assert "required" not in remember["inputSchema"]
    assert recall["inputSchema"]["properties"]["limit"] == {
        "type": "integer",
        "minimum": 1,
        "maximum": 100,
        "description": "With q: 1 to 100, default 20. With query: 1 to 20, default 5.",
    }
    assert "outputSchema" not in remember
    assert "outputSchema" not in recall
    assert {tool["annotations"]["readOnlyHint"] for tool in (remember, recall)} == {False, True}


def test_the_whole_list_stays_within_what_peers_take(cast: Cast) -> None:
    assert len(json.dumps({"tools": WHOLE.listed(cast.agent)}, separators=(",", ":")).encode()) <= 60_000


@pytest.mark.parametrize("profile", ["chatgpt", "claude_plugin"])
def test_other_profiles_neither_see_nor_send_create_project(cast: Cast, profile: str) -> None:
    actor = cast.key(profile=profile)
    for family in (None, "paths"):
        (remember,) = [tool for tool in Tools(family).listed(actor) if tool["name"] == "remember"]
        assert "create_project" not in remember["inputSchema"]["properties"]
    for sent in (True, False, "false"):
        with pytest.raises(ValidationFailed) as caught:
            call(actor, "remember", content="Tea", path="projects/tea/notes", create_project=sent)
        assert list(caught.value.fields) == ["create_project"]
    assert call(actor, "remember", content="Tea", path="notes", create_project=None)["created"] is True
    assert call(actor, "recall", query="tea")["count"] == 1
