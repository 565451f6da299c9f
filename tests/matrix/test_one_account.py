"""A credential stays in its account, also where the person behind it is at home in another one.

There they are an owner, who in the browser sees and does everything. To their key and their client of ours, what
is there answers byte for byte as what never was: by every argument, id and header of every operation.
"""

import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest

from accounts.domain.accounts import add_member
from accounts.scopes import Role
from memoryhub.common.ids import typed_id
from memoryhub.common.tenancy import tenant
from memoryhub.operations.base import REGISTRY
from spaces.models import Memory, Space, Summary
from tests.matrix.asking import as_tool, over_rest
from tests.matrix.operations import ABSENT, ALLOWED, OPERATIONS, filled
from tests.matrix.test_ids import FORMS, NAMES_ONE
from tests.matrix.world import THEIRS, World, undone
from tests.wire import called, find

pytestmark = pytest.mark.django_db

CREDENTIALS = pytest.mark.parametrize("who", ["key of the owner", "client of the owner"])
WAYS = {"tool": as_tool, "rest": over_rest}
LETS_IN = {ALLOWED, ABSENT}
NEW = re.compile(r"(?<=[a-z]{3}_)[0-9a-f]{32}|[-\d]{10}T[.:\d]+Z")
"""What differs from call to call in an answer that is given: ids of what was made by it, and when."""


def by_both(names: list[str]) -> list[tuple[str, str]]:
    """The feed never ends, so that over REST it is tried elsewhere."""
    return [(n, w) for n in names for w in WAYS if w == "tool" or (find(n).route and n != "event_list")]


def taking(word: str) -> dict[str, list[str]]:
    """Operation → its arguments with that word in their names."""
    found = {called(o): [name for name in o.arguments if word in name] for o in REGISTRY.all()}
    return {name: arguments for name, arguments in found.items() if arguments}


NAMES_ACCOUNT, NAMES_SPACE = taking("account"), taking("space")
IN_A_SPACE = [name for name, declared in OPERATIONS.items() if declared.right]


@pytest.fixture
def at_home_in_both(world: World) -> Iterator[World]:
    with undone():
        add_member(world.theirs.account.id, world.ours.people["owner"], Role.OWNER)
        yield world


def accounts(world: World) -> list[str]:
    """The person's other account in every form, and what is none."""
    theirs = world.theirs.account
    return [
        typed_id("acc", theirs.id),
        str(theirs.id),
        theirs.slug,
        "acc_" + "0" * 31 + "1",
        "nonsense",
    ]


def spaces(world: World) -> list[str]:
    return [
        world.theirs.ids["space"],
        world.theirs.ids["space_id"],
        typed_id("spc", world.theirs.closed.id),
        "spc_" + "0" * 31 + "1",
        "nowhere",
    ]


def answers(world: World, who: str, way: str, name: str, every: list[dict[str, Any]]) -> set[tuple[str, str]]:
    def asked(arguments: dict[str, Any]) -> tuple[str, str]:
        with undone():
            return WAYS[way](world, world.knockers[who], name, arguments)

    return {asked({**filled(OPERATIONS[name].call, world.ours.ids), **given}) for given in every}


def test_there_are_operations_that_take_an_account_or_a_space() -> None:
    assert len(NAMES_ACCOUNT) >= 5
    assert len(NAMES_SPACE) >= 4


@CREDENTIALS
@pytest.mark.parametrize(("name", "way"), by_both(list(NAMES_ACCOUNT)))
def test_an_account_that_is_named_is_its_own_or_none(
    at_home_in_both: World, name: str, way: str, who: str
) -> None:
    world = at_home_in_both
    for argument in NAMES_ACCOUNT[name]:
        named = [{argument: account} for account in accounts(world)]
        found = answers(world, who, way, name, named)
        also = [
            {argument: account, **dict.fromkeys(NAMES_SPACE.get(name, []), space)}
            for account in accounts(world)
            for space in spaces(world)
        ]
        assert {outcome for outcome, _ in found} == {ABSENT}
        assert answers(world, who, way, name, also) == found
        assert len(found) == 1
        own = [{argument: typed_id("acc", world.ours.account.id)}, {argument: ""}]
        assert {outcome for outcome, _ in answers(world, who, way, name, own)} == {ALLOWED}


@CREDENTIALS
@pytest.mark.parametrize(("name", "way"), by_both(list(NAMES_SPACE)))
def test_a_space_that_is_named_is_of_its_own_account_or_none(
    at_home_in_both: World, name: str, way: str, who: str
) -> None:
    for argument in NAMES_SPACE[name]:
        named = [{argument: space} for space in spaces(at_home_in_both)]
        found = answers(at_home_in_both, who, way, name, named)
        assert {outcome for outcome, _ in found} == {ABSENT}
        assert len(found) == 1


@CREDENTIALS
@pytest.mark.parametrize(("name", "way"), by_both(IN_A_SPACE))
def test_a_space_that_the_header_names_is_of_its_own_account_or_none(
    at_home_in_both: World, name: str, way: str, who: str
) -> None:
    world, arguments = at_home_in_both, filled(OPERATIONS[name].call, at_home_in_both.ours.ids)
    found = set()
    for space in spaces(world):
        with undone():
            outcome, text = WAYS[way](world, replace(world.knockers[who], space=space), name, arguments)
            found.add((outcome, NEW.sub("", text) if outcome == ALLOWED else text))
    assert len(found) == 1
    assert not any(THEIRS in text for _, text in found)
    assert {outcome for outcome, _ in found} <= LETS_IN


@CREDENTIALS
@pytest.mark.parametrize(("name", "way"), by_both(NAMES_ONE))
def test_an_id_that_is_named_is_of_its_own_account_or_none(
    at_home_in_both: World, name: str, way: str, who: str
) -> None:
    world = at_home_in_both
    calls = [filled(OPERATIONS[name].call, form(world.theirs.ids)) for form in FORMS]
    found = answers(world, who, way, name, calls)
    assert {outcome for outcome, _ in found} == {ABSENT}
    assert len(found) == 1


@CREDENTIALS
@pytest.mark.parametrize("policy", ["redact", "reject"])
@pytest.mark.parametrize("way", WAYS)
def test_nothing_is_written_there_whatever_is_wanted_with_secrets(
    at_home_in_both: World, way: str, policy: str, who: str
) -> None:
    world, theirs = at_home_in_both, at_home_in_both.theirs
    with tenant(theirs.account.id):
        Space.objects.filter(account_id=theirs.account.id).update(secret_policy=policy)
        before = Memory.objects.count(), Summary.objects.count()
    said = {
        "account_id": typed_id("acc", theirs.account.id),
        "space_id": theirs.ids["space"],
        "text": "password=Xk29-plum-Tree-77",
        "items": [{"kind": "fact", "text": "Tea is at four"}],
    }
    outcome, text = WAYS[way](world, world.knockers[who], "memory_record_summary", said)
    unknown = {**said, "account_id": "acc_" + "0" * 31 + "1"}
    assert (outcome, text) == WAYS[way](world, world.knockers[who], "memory_record_summary", unknown)
    assert outcome == ABSENT
    with tenant(theirs.account.id):
        assert (Memory.objects.count(), Summary.objects.count()) == before
