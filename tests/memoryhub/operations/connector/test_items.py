"""Search and fetch as ChatGPT calls them."""

from typing import Any

import jsonschema
import pytest
from django.conf import settings
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from accounts.actor import Actor
from accounts.scopes import Scope
from memoryhub.common.errors import Forbidden, HubError
from memoryhub.common.tenancy import tenant
from memoryhub.operations.base import REGISTRY
from spaces.domain.embeddings.queries import forget
from spaces.domain.spaces import create_space
from tests.calls import call
from tests.conftest import Cast
from tests.pages import browser_of, text_of
from tests.wire import find

KEYS = {"id", "title", "url", "text"}


def ask(actor: Actor, name: str, /, **arguments: Any) -> dict[str, Any]:
    operation = REGISTRY.get(name, "connector")
    assert operation is not None
    answer = operation(actor, arguments)
    jsonschema.validate(answer, operation.output_schema)
    return answer


def refused(actor: Actor, id: str) -> dict[str, object]:
    with pytest.raises(HubError) as caught:
        ask(actor, "fetch", id=id)
    return caught.value.body()


@pytest.fixture
def ids(cast: Cast) -> dict[str, str]:
    """One thing of each kind that tells of the heliotrope."""
    made = {
        "mem": call(cast.agent, "remember", text="The heliotrope grows", subject="Garden", tags=["a"])[
            "memory"
        ],
        "pln": call(cast.agent, "plan_create", title="Water", content="The heliotrope on Mondays")["plan"],
        "jrn": call(cast.agent, "journal_write", date="2026-03-02", decisions=["Move the heliotrope"])[
            "entry"
        ],
        "rec": call(cast.agent, "record_put", collection="plants", key="h", data={"name": "heliotrope"})[
            "record"
        ],
    }
    said = {"text": "We talked of the heliotrope", "session": "May"}
    summary = find("memory_record_summary")(cast.agent, {**said, "space_id": cast.space.slug})
    return {"sum": summary["summary_id"], **{prefix: thing["id"] for prefix, thing in made.items()}}


def found(actor: Actor, query: str) -> list[str]:
    return [result["id"] for result in ask(actor, "search", query=query)["results"]]


def test_everything_that_tells_of_it_is_found_in_the_shape_that_is_asked_for(
    cast: Cast, ids: dict[str, str]
) -> None:
    answer = ask(cast.agent, "search", query="heliotrope")
    assert {result["id"] for result in answer["results"]} == set(ids.values())
    assert all(result.keys() == KEYS for result in answer["results"])


@pytest.mark.parametrize("query", ["zebra", "???", "👍", "x" * 2000, "部署窗口"])
def test_what_finds_nothing_is_an_empty_list(cast: Cast, ids: dict[str, str], query: str) -> None:
    assert ask(cast.agent, "search", query=query)["results"] == []


def test_chinese_is_found_in_every_kind(cast: Cast) -> None:
    call(cast.agent, "remember", text="部署窗口是周二下午")
    call(cast.agent, "plan_create", title="部署", content="周二")
    assert len(found(cast.agent, "部署")) == 2


def test_each_is_fetched_whole_under_the_id_that_was_found(cast: Cast, ids: dict[str, str]) -> None:
    got = {prefix: ask(cast.agent, "fetch", id=id) for prefix, id in ids.items()}
    assert all(answer.keys() == {*KEYS, "metadata", "notice"} for answer in got.values())
    assert {prefix: answer["title"] for prefix, answer in got.items()} == {
        "mem": "Garden",
        "pln": "Water",
        "jrn": "Journal, 2026-03-02",
        "rec": "plants: h",
        "sum": "Session summary, May",
    }
    assert got["jrn"]["text"] == "Decisions:\n- Move the heliotrope"
    assert (got["mem"]["metadata"]["tags"], got["mem"]["metadata"]["origin"]) == (["a"], "agent")


def test_its_url_shows_it_to_a_member_who_signs_in(cast: Cast, ids: dict[str, str]) -> None:
    for id in ids.values():
        url = ask(cast.agent, "fetch", id=id)["url"]
        path = url.removeprefix(settings.PUBLIC_URL)
        assert Client().get(path)["Location"].startswith("/accounts/login/?next=")
        assert "heliotrope" in text_of(browser_of(cast.viewer).get(path))
        assert browser_of(cast.outsider_person).get(path).status_code == 404


def test_what_is_anothers_forgotten_or_never_was_is_absent_alike(cast: Cast, ids: dict[str, str]) -> None:
    gone = call(cast.agent, "remember", text="Soon forgotten")["memory"]["id"]
    call(cast.agent, "forget", ids=[gone])
    sought = [*ids.values(), f"mem_{'0' * 32}", "mem_", "sum_x", "nonsense", "", f"act_{'0' * 32}"]
    answers = [refused(cast.outsider, id) for id in sought] + [refused(cast.agent, gone)]
    assert all(answer == answers[0] for answer in answers)
    assert found(cast.outsider, "heliotrope") == []


def test_what_the_scopes_do_not_cover_is_absent(cast: Cast, ids: dict[str, str]) -> None:
    for scopes, covered in (
        ({Scope.MEMORY_READ}, {"mem"}),
        ({Scope.PLANS_READ}, {"pln"}),
        ({Scope.SPACE_READ}, {"jrn", "rec"}),
        ({Scope.MCP_READ, Scope.DECISIONS_READ}, {"sum"}),
        ({Scope.MEMORY_READ, Scope.MCP_READ}, {"mem"}),
    ):
        key = cast.key(scopes=frozenset(scopes))
        assert set(found(key, "heliotrope")) == {ids[prefix] for prefix in covered}
        for prefix, id in ids.items():
            if prefix in covered:
                assert ask(key, "fetch", id=id)["id"] == id
            else:
                assert refused(key, id)["error"]


@pytest.mark.parametrize("half", [Scope.MCP_READ, Scope.DECISIONS_READ])
def test_summaries_need_both_of_their_scopes(cast: Cast, half: Scope) -> None:
    with pytest.raises(Forbidden, match="mcp:read with decisions:read"):
        ask(cast.key(scopes=frozenset({half})), "search", query="heliotrope")


def test_every_space_that_the_caller_reads_is_searched_or_the_one_that_is_named(
    cast: Cast, ids: dict[str, str]
) -> None:
    with tenant(cast.account.id):
        create_space(cast.owner, name="Other", slug="other")
    call(cast.agent.in_space("other"), "plan_create", title="Elsewhere", content="heliotrope")
    assert len(found(cast.agent, "heliotrope")) == 6
    assert len(found(cast.agent.in_space("other"), "heliotrope")) == 1


def test_a_superseded_memory_is_fetched_and_says_so(cast: Cast, ids: dict[str, str]) -> None:
    from spaces.models import Memory

    with tenant(cast.account.id):
        Memory.objects.filter(text="The heliotrope grows").update(status="superseded")
    assert ask(cast.agent, "fetch", id=ids["mem"])["metadata"]["status"] == "superseded"
    assert ids["mem"] not in found(cast.agent, "heliotrope")


def test_a_search_asks_as_often_for_three_as_for_one(cast: Cast) -> None:
    counts = []
    for n in (1, 2):
        for i in range(n):
            call(cast.agent, "remember", text=f"The heliotrope grows {n} {i}")
            call(cast.agent, "plan_create", title=f"Heliotrope {n} {i}", content="Water it")
        forget()  # of the model it knows for a second
        with CaptureQueriesContext(connection) as asked:
            assert len(found(cast.agent, "heliotrope")) == 2 * (n if n == 1 else 3)
        counts.append(len(asked))
    assert counts[0] == counts[1]
