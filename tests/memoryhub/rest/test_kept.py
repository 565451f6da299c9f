"""Records, the journal, values, spaces and whoami at their addresses."""

import json
from typing import Any
from urllib.parse import quote

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


def error(response: HttpResponse) -> tuple[int, str]:
    return response.status_code, json.loads(response.content)["error"]["code"]


def test_a_record_is_made_changed_and_deleted(rest: Caller) -> None:
    made = rest("POST", "collections/tasks/records", {"key": "a", "data": {"x": 1}})
    record = body(made, 201)["record"]
    assert made["ETag"] == '"1"'
    again = rest("POST", "collections/tasks/records", {"key": "a", "status": "waiting"})
    assert (body(again)["created"], again["ETag"]) == (False, '"2"')
    address = f"collections/tasks/records/{record['id']}"
    changed = rest("PATCH", address, {"data": {"x": None}, "due_at": "2026-08-08"})
    assert body(changed)["record"]["data"] == {}
    assert body(rest("GET", address))["record"] == body(changed)["record"]
    assert [v["version"] for v in body(rest("GET", f"{address}/versions"))["items"]] == [2, 1]
    found = body(rest("GET", "collections/tasks/records?status=waiting,done&due_before=2026-08-08&limit=5"))
    assert [r["id"] for r in found["items"]] == [record["id"]]
    assert body(rest("GET", "collections"))["items"][0]["records"] == 1
    assert body(rest("DELETE", address)) == {"id": record["id"], "deleted": True}
    assert error(rest("GET", address)) == (404, "not_found")


def test_if_match_is_the_version_that_is_expected(rest: Caller) -> None:
    record = body(rest("POST", "collections/tasks/records", {}), 201)["record"]
    address = f"collections/tasks/records/{record['id']}"
    assert body(rest("PATCH", address, {"status": "done"}, headers={"If-Match": '"1"'}))
    for method, sent in (("PATCH", {"status": "open"}), ("DELETE", None)):
        refused = rest(method, address, sent, headers={"If-Match": '"1"'})
        assert error(refused) == (409, "conflict")
        assert json.loads(refused.content)["error"]["details"]["current"] == {"version": 2}
    assert body(rest("DELETE", address, headers={"If-Match": '"2"'}))


def test_a_journal_entry_is_put_at_its_date(rest: Caller) -> None:
    assert body(rest("PUT", "journal/2026-08-08", {"summary": "one"}), 201)["created"] is True
    put = rest("PUT", "journal/2026-08-08", {"summary": "two", "merge": True}, headers={"If-Match": '"1"'})
    assert (body(put)["entry"]["summary"], put["ETag"]) == ("one\ntwo", '"2"')
    stale = rest("PUT", "journal/2026-08-08", {"summary": "x"}, headers={"If-Match": '"1"'})
    assert error(stale) == (409, "conflict")
    assert body(rest("GET", "journal/2026-08-08"))["entry"] == body(put)["entry"]
    assert len(body(rest("GET", "journal/2026-08-08/versions"))["items"]) == 1
    assert len(body(rest("GET", "journal?kind=day&since=2026-08-01&until=2026-08-08"))["items"]) == 1
    assert error(rest("GET", "journal/2026-08-08?kind=week")) == (404, "not_found")
    assert error(rest("GET", "journal/yesterday")) == (422, "validation_failed")


@pytest.mark.parametrize(
    "key", ["k", "a/b/c", " x ", "?a=1&b#c", "Ключ 🔑", "100%", "a//b", "/a", "a/", "..", "%2F"]
)
def test_a_value_is_set_read_and_deleted_at_its_key(rest: Caller, key: str) -> None:
    address = f"kv/n/{quote(key, safe='')}"
    assert body(rest("PUT", address, {"value": None}), 201) == {
        "ns": "n",
        "key": key,
        "version": 1,
        "created": True,
    }
    assert body(rest("PUT", address, {"value": "null"}))["version"] == 2
    got = rest("GET", address)
    assert (body(got)["value"], got["ETag"]) == ("null", '"2"')
    assert error(rest("PUT", address, {"value": 1}, headers={"If-Match": '"1"'})) == (409, "conflict")
    assert body(rest("DELETE", address)) == {"ns": "n", "key": key, "deleted": True}
    assert error(rest("GET", address)) == (404, "not_found")


def test_a_namespace_is_listed_in_pages(rest: Caller) -> None:
    for key in "abc":
        rest("PUT", f"kv/n/{key}", {"value": key})
    first = body(rest("GET", "kv/n?limit=2"))
    rest_of_it = body(rest("GET", f"kv/n?limit=2&cursor={first['next_cursor']}"))
    assert [e["value"] for e in first["entries"] + rest_of_it["entries"]] == ["a", "b", "c"]


def test_settings_are_read_by_members_and_changed_by_those_who_manage(cast: Cast, rest: Caller) -> None:
    got = rest("GET", "space")
    assert (body(got)["space"]["slug"], got["ETag"]) == ("main", '"1"')
    assert error(rest("PATCH", "space", {"name": "Mine"})) == (403, "forbidden")
    owner = Caller(make_key(cast.owner, cast.space)[1])
    assert (
        body(owner("PATCH", "space", {"name": "Ours"}, headers={"If-Match": '"1"'}))["space"]["name"]
        == "Ours"
    )
    assert error(owner("PATCH", "space", {"name": "Other"}, headers={"If-Match": '"1"'})) == (409, "conflict")


def test_whoami_names_the_credential(rest: Caller) -> None:
    answer = body(rest("GET", "whoami"))
    assert (answer["account"]["slug"], answer["credential"]["kind"], answer["role"]) == (
        "acme",
        "key",
        "member",
    )


def test_what_is_anothers_and_what_never_was_answer_byte_for_byte_alike(
    rest: Caller, stranger: Caller
) -> None:
    record = body(rest("POST", "collections/tasks/records", {"data": {"a": "secret"}}), 201)["record"]["id"]
    rest("PUT", "journal/2026-08-08", {"summary": "secret"})
    rest("PUT", "kv/n/k", {"value": "secret"})
    rest("POST", "collections/tasks/records", {})
    cursor = body(rest("GET", "collections/tasks/records?limit=1"))["next_cursor"]
    unknown = "rec_" + "0" * 32
    pairs = [
        ("GET", f"collections/tasks/records/{record}", f"collections/tasks/records/{unknown}", None),
        (
            "PATCH",
            f"collections/tasks/records/{record}",
            f"collections/tasks/records/{unknown}",
            {"status": "x"},
        ),
        ("DELETE", f"collections/tasks/records/{record}", f"collections/tasks/records/{unknown}", None),
        (
            "GET",
            f"collections/tasks/records/{record}/versions",
            f"collections/tasks/records/{unknown}/versions",
            None,
        ),
        ("GET", "journal/2026-08-08", "journal/2026-08-07", None),
        ("GET", "journal/2026-08-08/versions", "journal/2026-08-07/versions", None),
        ("GET", "kv/n/k", "kv/n/other", None),
        ("DELETE", "kv/n/k", "kv/n/other", None),
        ("GET", "collections/tasks/records", "collections/other/records", None),
        ("GET", f"collections/tasks/records?cursor={cursor}", "collections/tasks/records?cursor=x", None),
    ]
    for method, theirs, nothing, sent in pairs:
        one, other = stranger(method, theirs, sent), stranger(method, nothing, sent)
        assert (one.status_code, one.content) == (other.status_code, other.content)
        assert b"secret" not in one.content
    assert body(rest("GET", "kv/n/k"))["value"] == "secret"


def test_a_space_named_in_the_header_that_is_anothers_is_not_found(cast: Cast, rest: Caller) -> None:
    for ref in (f"spc_{cast.outsider_space.id.hex}", "spc_" + "0" * 32):
        response = rest("GET", "collections", headers={"X-Memory-Hub-Space": ref})
        assert error(response) == (404, "not_found")
