"""What is another's answers byte for byte as what never was: by every argument, address and header that names it."""

import json
import re
from collections.abc import Callable
from typing import Any

import pytest

from tests.matrix.asking import as_tool, over_rest, request
from tests.matrix.operations import ABSENT, ALLOWED, OPERATIONS, filled
from tests.matrix.pages import PAGES
from tests.matrix.test_pages import DECLARED, sent
from tests.matrix.world import OURS, World, undone
from tests.wire import find

pytestmark = pytest.mark.django_db

IDS = (
    "memory",
    "record",
    "plan",
    "summary",
    "transaction",
    "reminder",
    "capture",
    "action",
    "approved",
    "agent",
    "grant",
    "entry",
    "run",
    "job",
    "webhook",
    "delivery",
)
NAMES_ONE = [name for name, declared in OPERATIONS.items() if declared.names_an_id]
PAGES_OF_ONE = [(n, m) for n, m in DECLARED if any(f"{{{id}}}" in PAGES[n].address for id in IDS)]


def unknown(ids: dict[str, str]) -> dict[str, str]:
    """Ids of the same form that nothing has."""
    return {**ids, **{name: re.sub("[0-9a-f]{32}", "0" * 31 + "1", ids[name]) for name in IDS}}


def nonsense(ids: dict[str, str]) -> dict[str, str]:
    return {**ids, **dict.fromkeys(IDS, "nonsense")}


def as_uuid(ids: dict[str, str]) -> dict[str, str]:
    return {**ids, **{name: ids[name].partition("_")[2] for name in IDS}}


HEADER = "X-Memory-Hub-Space"
LISTED = {
    "recall": {},
    "record_query": {"collection": "leads"},
    "journal_list": {},
    "kv_list": {"ns": "prefs"},
    "plan_list": {},
}
ANOTHER: dict[str, tuple[str, dict[str, Any]]] = {
    "recall": ("remember", {"text": "Tea is at four"}),
    "record_query": ("record_put", {"collection": "leads"}),
    "journal_list": ("journal_write", {"date": "2026-03-01", "summary": "Quiet"}),
    "kv_list": ("kv_set", {"ns": "prefs", "key": "other", "value": 1}),
    "plan_list": ("plan_create", {"title": "Tea", "content": "At four"}),
}

FORMS: list[Callable[[dict[str, str]], dict[str, str]]] = [dict, unknown, nonsense, as_uuid]


@pytest.mark.parametrize(
    ("way", "name"),
    [(as_tool, name) for name in NAMES_ONE] + [(over_rest, name) for name in NAMES_ONE if find(name).route],
)
def test_by_an_operation(world: World, name: str, way: Any) -> None:
    answers = {
        who: [
            way(world, world.knockers[key], name, filled(OPERATIONS[name].call, form(ids))) for form in FORMS
        ]
        for who, key, ids in (
            ("of another team", "outsider", world.ours.ids),
            ("of a closed space", "key of the member", world.ours.closed_ids),
        )
    }
    assert {outcome for told in answers.values() for outcome, _ in told} == {ABSENT}
    assert len({text for told in answers.values() for _, text in told}) == 1


@pytest.mark.parametrize(
    "name",
    [n for n, declared in OPERATIONS.items() if declared.right and find(n).route and n != "event_list"],
)
def test_by_the_header_that_names_the_space(world: World, name: str) -> None:
    """Our ids stand in the call, so that it would be answered if the space were."""
    knocker, ours = world.knockers["outsider"], world.ours.ids
    arguments = filled(OPERATIONS[name].call, ours)
    headers = [ours["space"], ours["space_id"], "spc_" + "0" * 32, "nowhere", "..", "A1", "\u00fc"]
    answers = [
        request(world.browser("nobody"), name, arguments, {**knocker.headers, HEADER: value})
        for value in headers
    ]
    assert {(a.status_code, a.content) for a in answers} == {(404, answers[0].content)}


@pytest.mark.parametrize(("name", "method"), PAGES_OF_ONE)
def test_by_the_address_of_a_page(world: World, name: str, method: str) -> None:
    theirs = {**world.ours.ids, **{id: world.theirs.ids[id] for id in IDS}}
    answers = []
    for form in FORMS:
        answer = sent(world.browser("owner"), PAGES[name], method, form(theirs))
        address = PAGES[name].address.format_map(form(theirs))
        answers.append((answer.status_code, page_without(answer.content.decode(), address)))
    assert len(set(answers)) == 1
    assert answers[0][0] in (404, 405)


@pytest.mark.parametrize("name", ANOTHER)
def test_by_the_cursor_of_a_list(world: World, name: str) -> None:
    """A cursor that is somebody else's is as bad as one that is none."""
    keys, (writing, written) = world.knockers, ANOTHER[name]
    asked = {**LISTED[name], "limit": 1}
    with undone():
        over_rest(world, keys["key of the owner"], writing, written)
        cursor = json.loads(over_rest(world, keys["key of the owner"], name, asked)[1])["next_cursor"]
        answers = {
            over_rest(world, keys[who], name, {**asked, "cursor": sent})
            for who, sent in (
                ("key of the admin", cursor),
                ("outsider", cursor),
                ("outsider", "nonsense"),
                ("key of the owner", cursor[:-1]),
            )
        }
        again = over_rest(world, keys["key of the owner"], name, {**asked, "cursor": cursor})
    assert again[0] == ALLOWED
    assert len(answers) == 1
    assert [text[:4] for text, _ in answers] == ["400 "]


def test_by_what_is_said_twice(world: World) -> None:
    """To another team what ours has said, under our key, is new."""
    said = {"text": f"The {OURS} grows"}
    proposed = {**OPERATIONS["action_propose"].call, "idempotency_key": "pending"}
    with undone():
        remembered = json.loads(over_rest(world, world.knockers["outsider"], "remember", said)[1])
        over_rest(
            world, world.knockers["key of the owner"], "action_propose", {**proposed, "idempotency_key": "k"}
        )
        own = json.loads(
            over_rest(
                world, world.knockers["outsider"], "action_propose", {**proposed, "idempotency_key": "k"}
            )[1]
        )
    assert (remembered["created"], remembered["memory"]["seen_count"]) == (True, 1)
    assert own["created"] is True


def page_without(page: str, address: str) -> str:
    """But for the token of its forms, and for its own address."""
    return re.sub(r'name="csrfmiddlewaretoken" value="\w+"', "", page).replace(address, "")
