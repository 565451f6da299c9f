import json
from typing import Any

import pytest

from accounts.models import Event
from memoryhub.common.errors import HubError
from memoryhub.common.tenancy import tenant
from spaces.models import PlanVersion
from tests.calls import Caller, at_once, call, fields, queries, refused
from tests.conftest import Cast, make_key
from tests.spaces.domain.test_unified import patched

WHOLE = {
    "title": "Q3 API refactor",
    "content": "## Goals\n- Migrate to async handlers\n- Add rate limiting",
    "tags": ["backend", "q3"],
    "metadata": {"owner": "ann"},
    "type": "prd",
    "status": "active",
}


def create(cast: Cast, **given: Any) -> dict[str, Any]:
    plan: dict[str, Any] = call(cast.agent, "plan_create", **{"title": "Plan", "content": "one\n", **given})[
        "plan"
    ]
    return plan


def update(cast: Cast, plan: dict[str, Any], **changes: Any) -> dict[str, Any]:
    changed: dict[str, Any] = call(cast.agent, "plan_update", id=plan["id"], **changes)["plan"]
    return changed


def history(cast: Cast, plan: dict[str, Any], **asked: Any) -> list[dict[str, Any]]:
    items: list[dict[str, Any]] = call(cast.agent, "plan_versions", id=plan["id"], **asked)["items"]
    return items


def told(cast: Cast) -> list[str]:
    with tenant(cast.account.id):
        return list(
            Event.objects.filter(type__startswith="plan.").order_by("id").values_list("type", flat=True)
        )


def test_a_plan_is_kept_with_all_that_was_said_of_it(cast: Cast) -> None:
    made = create(cast, **WHOLE)
    read = call(cast.agent, "plan_get", id=made["id"])["plan"]
    assert read == made
    assert {name: read[name] for name in WHOLE} == WHOLE
    assert (read["version"], read["id"][:4]) == (1, "pln_")


def test_what_is_not_sent_stays_and_null_is_not_sent(cast: Cast) -> None:
    plan = create(cast, **WHOLE)
    changed = update(cast, plan, title="Q4 API refactor", content=None, tags=None)
    assert {name: changed[name] for name in WHOLE} == {**WHOLE, "title": "Q4 API refactor"}
    assert update(cast, plan, tags=[], metadata={}).keys() == changed.keys() - {"tags", "metadata"}


def test_every_update_is_a_version_with_its_diff_and_none_where_nothing_changed(cast: Cast) -> None:
    plan = create(cast, content="one\ntwo\n")
    update(cast, plan, content="one\nthree\n")
    update(cast, plan, content="one\nthree\n")
    update(cast, plan, title="Renamed", status="completed")
    assert [(v["version"], v["diff"], v.get("changed")) for v in history(cast, plan)] == [
        (4, "", ["title", "status"]),
        (3, "", None),
        (2, "@@ -1,2 +1,2 @@\n one\n-two\n+three\n", None),
        (1, "", None),
    ]
    assert told(cast) == ["plan.created", *["plan.updated"] * 3]


def test_an_earlier_version_is_read_whole_and_restored_as_a_new_one(cast: Cast) -> None:
    plan = create(cast, **WHOLE)
    update(cast, plan, title="Other", content="Other", tags=[], status="completed")
    first = call(cast.agent, "plan_version", id=plan["id"], version=1)["version"]
    assert {name: first[name] for name in WHOLE} == WHOLE
    restored = call(cast.agent, "plan_restore", id=plan["id"], version=1)["plan"]
    assert {name: restored[name] for name in WHOLE} == WHOLE
    assert restored["version"] == 3
    assert [v["version"] for v in history(cast, plan)] == [3, 2, 1]
    assert refused(cast.agent, "plan_version", id=plan["id"], version=9)["code"] == "not_found"


def test_versions_come_in_pages(cast: Cast) -> None:
    plan = create(cast)
    for n in range(4):
        update(cast, plan, content=f"{n}\n")
    answer = call(cast.agent, "plan_versions", id=plan["id"], limit=2)
    rest = history(cast, plan, cursor=answer["next_cursor"])
    assert [v["version"] for v in [*answer["items"], *rest]] == [5, 4, 3, 2, 1]


def test_plans_are_listed_last_changed_first_and_narrowed(cast: Cast) -> None:
    old, new = (
        create(cast, title="Old", tags=["api"], type="task"),
        create(cast, title="New", status="active"),
    )
    update(cast, old, content="two\n")

    def titles(**wanted: Any) -> list[str]:
        return [p["title"] for p in call(cast.agent, "plan_list", **wanted)["items"]]

    assert titles() == ["Old", "New"]
    assert [titles(tag="api"), titles(type="task"), titles(status="active")] == [["Old"], ["Old"], ["New"]]
    assert "content" not in call(cast.agent, "plan_list")["items"][0]
    first = call(cast.agent, "plan_list", limit=1)
    assert [p["title"] for p in call(cast.agent, "plan_list", cursor=first["next_cursor"])["items"]] == [
        "New"
    ]
    assert new["id"] != old["id"]


def test_a_list_asks_as_often_for_three_as_for_one(cast: Cast) -> None:
    create(cast)
    one = queries(lambda: call(cast.agent, "plan_list"))
    create(cast), create(cast)
    assert queries(lambda: call(cast.agent, "plan_list")) == one


@pytest.mark.parametrize(
    ("given", "field"),
    [
        ({"title": " \u200b"}, "title"),
        ({"title": "x" * 201}, "title"),
        ({"content": "x" * 200_001}, "content"),
        ({"content": " \n"}, "content"),
        ({"tags": ["x" * 51]}, "tags[0]"),
        ({"tags": [" "]}, "tags[0]"),
        ({"tags": [str(n) for n in range(21)]}, "tags"),
        ({"type": "poem"}, "type"),
        ({"status": "done"}, "status"),
        ({"title": "a\0b"}, "title"),
        ({"metadata": {"half": "\ud83d"}}, "metadata.half"),
    ],
)
def test_what_does_not_fit_is_refused_by_name(cast: Cast, given: dict[str, Any], field: str) -> None:
    whole = {"title": "Plan", "content": "one", **given}
    assert fields(refused(cast.agent, "plan_create", **whole)) == [field]
    plan = create(cast)
    assert fields(refused(cast.agent, "plan_update", id=plan["id"], **given)) == [field]


def test_metadata_has_its_limit(cast: Cast) -> None:
    error = refused(cast.agent, "plan_create", title="x", content="x", metadata={"x": "y" * 17_000})
    assert error["code"] == "payload_too_large"


def test_writing_over_what_was_not_seen_is_a_conflict(cast: Cast) -> None:
    plan = create(cast)
    update(cast, plan, content="two\n", expected_version=1)
    error = refused(cast.agent, "plan_update", id=plan["id"], content="three\n", expected_version=1)
    assert error["details"] == {"expected": 1, "actual": 2, "current": {"version": 2}}
    for name in ("plan_delete", "plan_restore"):
        more = {"version": 1} if name == "plan_restore" else {}
        assert refused(cast.agent, name, id=plan["id"], expected_version=1, **more)["code"] == "conflict"


@pytest.mark.django_db
def test_if_match_is_honoured_over_rest(cast: Cast) -> None:
    rest = Caller(make_key(cast.teammate, cast.space)[1])
    made = rest("POST", "plans", {"title": "Plan", "content": "one"})
    assert (made.status_code, made["ETag"]) == (201, '"1"')
    path = f"plans/{json.loads(made.content)['plan']['id']}"
    statuses = [
        rest("PATCH", path, {"content": "two"}, headers={"If-Match": match}).status_code
        for match in ('"1"', '"1"', '"2"')
    ]
    assert statuses == [200, 409, 200]
    assert rest("DELETE", path, headers={"If-Match": '"1"'}).status_code == 409
    assert rest("DELETE", path, headers={"If-Match": '"3"'}).status_code == 200


def test_a_deleted_plan_is_gone_with_its_versions(cast: Cast) -> None:
    plan = create(cast)
    call(cast.agent, "plan_delete", id=plan["id"])
    assert refused(cast.agent, "plan_get", id=plan["id"])["code"] == "not_found"
    with tenant(cast.account.id):
        assert not PlanVersion.objects.exists()
    assert told(cast)[-1] == "plan.deleted"


def test_who_only_reads_changes_nothing(cast: Cast) -> None:
    plan = create(cast)
    viewer = cast.key(role=cast.viewer.role)
    assert call(viewer, "plan_get", id=plan["id"])["plan"]["title"] == "Plan"
    for name in ("plan_update", "plan_delete"):
        assert refused(viewer, name, id=plan["id"])["code"] == "forbidden"
    assert refused(viewer, "plan_create", title="x", content="y")["code"] == "forbidden"


@pytest.mark.django_db(transaction=True)
def test_ten_updates_at_once_are_ten_versions_without_a_gap(cast: Cast) -> None:
    plan = create(cast, content="0\n")
    answers = at_once(10, lambda n: update(cast, plan, content=f"{n + 1}\n"))
    assert sorted(a["version"] for a in answers if not isinstance(a, HubError)) == list(range(2, 12))
    versions = history(cast, plan)[::-1]
    assert [v["version"] for v in versions] == list(range(1, 12))
    texts = [
        call(cast.agent, "plan_version", id=plan["id"], version=n)["version"]["content"] for n in range(1, 12)
    ]
    assert sorted(texts) == sorted(f"{n}\n" for n in range(11))
    for before, after, version in zip(texts, texts[1:], versions[1:], strict=False):
        assert patched(before, version["diff"]) == after


@pytest.mark.django_db(transaction=True)
def test_of_ten_that_expect_one_version_one_wins(cast: Cast) -> None:
    plan = create(cast)
    answers = at_once(10, lambda n: update(cast, plan, content=f"{n}\n", expected_version=1))
    lost = [a.details["current"] for a in answers if isinstance(a, HubError)]
    assert lost == [{"version": 2}] * 9
