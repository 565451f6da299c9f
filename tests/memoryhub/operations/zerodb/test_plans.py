from functools import partial

import pytest

from memoryhub.common.errors import HubError
from tests.calls import at_once, call
from tests.conftest import Cast
from tests.memoryhub.operations.zerodb.conftest import Ask, ask
from tests.memoryhub.operations.zerodb.test_memories import refusal

Q3 = {
    "title": "Q3 API Refactor Plan",
    "content": "## Goals\n- Migrate to async handlers\n- Add rate limiting",
    "tags": ["backend", "q3"],
}


def test_the_example_makes_a_plan_that_is_read_back_whole(tool: Ask, cast: Cast) -> None:
    made = tool("plan_create", **Q3, metadata={"owner": "ann"})
    assert made.keys() - {"notice"} == {"id", "title", "content", "created_at", "version"}
    read = tool("plan_get", artifact_id=made["id"])
    assert {name: read[name] for name in Q3} == Q3
    assert (read["metadata"], read["version"]) == ({"owner": "ann"}, 1)
    assert call(cast.agent, "plan_get", id=made["id"])["plan"]["content"] == Q3["content"]


def test_an_update_leaves_what_is_not_sent_and_history_tells_each(tool: Ask, cast: Cast) -> None:
    made = tool("plan_create", **Q3)
    changed = tool("plan_update", artifact_id=made["id"], content="## Goals\n- Async")
    assert (changed["title"], changed["tags"], changed["version"]) == (Q3["title"], Q3["tags"], 2)
    assert changed["updated_at"]
    tool("plan_update", artifact_id=made["id"], content="## Goals\n- Async", title="Q4", tags=[])
    versions = tool("plan_history", artifact_id=made["id"])["versions"]
    assert [(v["version"], v["author"]) for v in versions] == [(n, cast.agent.key) for n in (3, 2, 1)]
    assert versions[0]["diff"] == versions[2]["diff"] == ""
    assert versions[0]["changed"] == ["title", "tags"]
    assert "\n-- Migrate to async handlers\n" in versions[1]["diff"]


def test_a_long_history_is_cut_by_size_and_says_so(tool: Ask) -> None:
    made = tool("plan_create", title="x", content="x")
    for n in range(12):
        tool("plan_update", artifact_id=made["id"], content=f"{n} " * 5_000)
    versions = tool("plan_history", artifact_id=made["id"])["versions"]
    assert [v["version"] for v in versions] == list(range(13, 0, -1))
    assert versions[0]["truncated"] is True


def test_a_plans_type_and_status_may_stand_in_its_metadata(tool: Ask) -> None:
    made = tool(
        "plan_create", title="x", content="y", metadata={"status": "active", "type": "poem"}, type="prd"
    )
    read = tool("plan_get", artifact_id=made["id"])
    assert (read["type"], read["status"]) == ("plan", "active")
    made = tool("plan_create", title="x", content="y", type="prd")
    assert tool("plan_get", artifact_id=made["id"])["type"] == "prd"


def test_the_published_clients_id_is_read(tool: Ask) -> None:
    made = tool("plan_create", title="x", content="y")
    for name in ("plan_get", "plan_history"):
        assert "warnings" not in tool(name, id=made["id"])
    assert tool("plan_update", id=made["id"], content="z")["version"] == 2


def test_another_teams_plan_is_not_there(tool: Ask, cast: Cast) -> None:
    made = ask(cast.outsider, "zerodb_plan_create", title="x", content="y")
    answers = [
        refusal(partial(tool, name, artifact_id=id, **more))
        for id in (made["id"], f"pln_{'0' * 32}", "nonsense")
        for name, more in (("plan_get", {}), ("plan_history", {}), ("plan_update", {"content": "z"}))
    ]
    assert all(answer == answers[0] for answer in answers)


@pytest.mark.django_db(transaction=True)
def test_ten_updates_at_once_are_ten_versions(tool: Ask) -> None:
    made = tool("plan_create", title="x", content="0")
    answers = at_once(10, lambda n: tool("plan_update", artifact_id=made["id"], content=str(n + 1)))
    assert sorted(a["version"] for a in answers if not isinstance(a, HubError)) == list(range(2, 12))
    versions = tool("plan_history", artifact_id=made["id"])["versions"]
    assert [v["version"] for v in versions] == list(range(11, 0, -1))
