"""Memories, the context and forgetting at their addresses."""

import json
from typing import Any
from urllib.parse import urlencode

import pytest
from django.http import HttpResponse

from tests.calls import Caller
from tests.conftest import Cast, make_key


@pytest.fixture
def rest(cast: Cast) -> Caller:
    return Caller(make_key(cast.teammate, cast.space)[1])


@pytest.fixture
def stranger(cast: Cast) -> Caller:
    return Caller(make_key(cast.outsider_person, cast.outsider_space)[1])


def body(response: HttpResponse, status: int = 200) -> Any:
    assert response.status_code == status, response.content
    return json.loads(response.content)


def test_a_memory_is_made_read_changed_and_deleted(rest: Caller) -> None:
    made = rest("POST", "memories", {"text": "one", "kind": "decision", "metadata": {"a": 1}})
    memory = body(made, 201)["memory"]
    assert (memory["kind"], memory["metadata"], made["ETag"]) == ("decision", {"a": 1}, '"1"')
    assert body(rest("POST", "memories", {"text": "One.", "kind": "decision"}))["created"] is False
    address = f"memories/{memory['id']}"
    changed = rest("PATCH", address, {"text": "two"}, headers={"If-Match": '"1"'})
    assert (body(changed)["memory"]["text"], changed["ETag"]) == ("two", '"2"')
    assert body(rest("PATCH", address, {"text": "three"}, headers={"If-Match": '"1"'}), 409)
    assert body(rest("GET", address))["memory"]["text"] == "two"
    assert [v["text"] for v in body(rest("GET", f"{address}/versions"))["items"]] == ["one"]
    assert body(rest("DELETE", address)) == {"id": memory["id"], "deleted": True}
    assert body(rest("GET", address), 404)["error"]["code"] == "not_found"


def test_a_batch_answers_each_item(rest: Caller) -> None:
    sent = {"items": [{"text": "one"}, {"text": ""}, {"text": "bad \u0000"}]}
    answer = body(rest("POST", "memories/batch", sent))
    assert [("error" in item) for item in answer["items"]] == [False, True, True]


def test_memories_are_searched_and_listed_at_one_address(rest: Caller) -> None:
    for n in range(3):
        body(rest("POST", "memories", {"text": f"fact {n}", "tags": ["x"], "path": f"projects/p{n}"}), 201)
    asked = [
        ({"q": "fact 2", "limit": "1"}, ["fact 2"], "words"),
        ({}, ["fact 2", "fact 1", "fact 0"], "newest"),
        ({"q": "", "tag": "x", "path": "projects/p1"}, ["fact 1"], "newest"),
        ({"bucket": "projects", "status": "all", "limit": "2"}, ["fact 2", "fact 1"], "newest"),
    ]
    for query, expected, mode in asked:
        answer = body(rest("GET", f"memories?{urlencode(query)}"))
        assert ([item["text"] for item in answer["items"]], answer["search"]) == (expected, mode)
    cursor = body(rest("GET", "memories?limit=2"))["next_cursor"]
    rest_of = body(rest("GET", f"memories?{urlencode({'limit': 2, 'cursor': cursor})}"))
    assert ([i["text"] for i in rest_of["items"]], rest_of["next_cursor"]) == (["fact 0"], None)
    assert body(rest("GET", "memories?limit=0"), 422)
    assert body(rest("GET", "memories?colour=red"))["warnings"] == ["Ignored unknown argument: colour"]


def test_forgetting_is_a_post(rest: Caller) -> None:
    id = body(rest("POST", "memories", {"text": "Acme wants more"}), 201)["memory"]["id"]
    assert body(rest("POST", "forget", {"query": "acme", "dry_run": True}))["ids"] == {"memories": [id]}
    assert body(rest("POST", "forget", {"query": "acme", "dryrun": True}), 400)
    assert body(rest("POST", "forget", {"ids": [id]}))["deleted"] == {"memories": 1}
    assert body(rest("POST", "forget", {"ids": [id]}), 404)


def test_the_context_is_read_with_its_arguments_in_the_query(rest: Caller) -> None:
    body(rest("POST", "memories", {"text": "core", "tier": "core"}), 201)
    answer = body(rest("GET", "context?budget_chars=500&journal_days=1"))
    assert ([m["text"] for m in answer["core"]], answer["budget"]["limit"]) == (["core"], 500)
    assert body(rest("GET", "context?budget_chars=5"), 422)


def test_a_stranger_finds_nothing_at_any_address(rest: Caller, stranger: Caller) -> None:
    id = body(rest("POST", "memories", {"text": "The vault code is 4711", "tier": "core"}), 201)["memory"][
        "id"
    ]
    unknown = "mem_" + "0" * 32
    for method, suffix, sent in (
        ("GET", "", None), ("PATCH", "", {"text": "x"}), ("DELETE", "", None), ("GET", "/versions", None)
    ):  # fmt: skip
        mine, made_up = (stranger(method, f"memories/{i}{suffix}", sent) for i in (id, unknown))
        assert (mine.status_code, mine.content) == (made_up.status_code, made_up.content)
        assert mine.status_code == 404
    assert body(stranger("GET", "memories?q=vault"))["items"] == []
    assert body(stranger("GET", "context"))["core"] == []
    assert body(rest("GET", f"memories/{id}"))["memory"]["text"] == "The vault code is 4711"
