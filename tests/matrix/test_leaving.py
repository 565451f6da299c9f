"""Who is removed, or may less than before, has lost it with their next request: on every page and by every operation,
in the session, with the key and through the client that they had."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

import pytest

from accounts.domain.accounts import add_member, person_actor
from accounts.domain.members import change_role
from accounts.scopes import Role
from memoryhub.common.tenancy import tenant
from memoryhub.flows.offboarding import remove_member
from tests.matrix.asking import as_tool, over_rest, tried
from tests.matrix.operations import OPERATIONS, UNAUTHORIZED, expected
from tests.matrix.pages import ABSENT, FORBIDDEN, PAGES, SIGN_IN
from tests.matrix.test_one_account import by_both
from tests.matrix.test_pages import DECLARED
from tests.matrix.test_pages import tried as opened
from tests.matrix.world import World, undone

pytestmark = pytest.mark.django_db

WAYS = {"tool": as_tool, "rest": over_rest}
REFUSED = {ABSENT, FORBIDDEN, SIGN_IN}
THEIR_OWN = {
    "key-revoke", "key-first-call", "grant-revoke",
}  # fmt: skip
"""What is theirs they may end and look at in any role."""


@contextmanager
def lost(world: World, role: Role | None) -> Iterator[None]:
    """Who was an owner, and held everything, is that no longer: None is not even a member."""
    ours = world.ours
    with undone():
        add_member(ours.account.id, ours.people["admin"], Role.OWNER)
        other, theirs = person_actor(ours.people["admin"], ours.account.slug), ours.people["owner"].id
        with tenant(ours.account.id):
            _ = change_role(other, theirs, role) if role else remove_member(other, theirs)
        yield


@pytest.mark.parametrize(("name", "method"), DECLARED)
def test_on_a_page_who_was_removed_is_a_stranger(world: World, name: str, method: str) -> None:
    with lost(world, None):
        found = opened(world, "owner", PAGES[name], method)
    assert found == getattr(PAGES[name], method)["removed member"]


@pytest.mark.parametrize(("name", "method"), DECLARED)
def test_on_a_page_who_was_made_a_viewer_is_one(world: World, name: str, method: str) -> None:
    declared: str = getattr(PAGES[name], method)["viewer"]
    with lost(world, Role.VIEWER):
        found = opened(world, "owner", PAGES[name], method)
    if declared in REFUSED and name not in THEIR_OWN:
        assert found in REFUSED
    elif name not in THEIR_OWN:
        assert found == declared


@pytest.mark.parametrize("who", ["key of the owner", "client of the owner"])
@pytest.mark.parametrize(("name", "way"), by_both(list(OPERATIONS)))
def test_by_an_operation_what_acts_for_them_has_lost_it_too(
    world: World, name: str, way: str, who: str
) -> None:
    held = world.knockers[who]
    with lost(world, None):
        assert tried(world, replace(held, refused=True), name, WAYS[way]) == UNAUTHORIZED
    with lost(world, Role.VIEWER):
        shrunk = replace(held, role=Role.VIEWER)
        assert tried(world, shrunk, name, WAYS[way]) == expected(shrunk, name)
