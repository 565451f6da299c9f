"""What each credential may do by each operation, over REST and as an MCP tool.

A new operation needs a line in OPERATIONS.
"""

from dataclasses import replace

import pytest

from accounts.domain.credentials import authenticate
from accounts.scopes import Role
from memoryhub.mcp.tools import Tools
from memoryhub.operations.base import REGISTRY
from tests.matrix.asking import HERE, as_tool, lowered, outcomes, over_rest, request, tried
from tests.matrix.operations import OPERATIONS, Needs, expected, filled
from tests.matrix.world import World
from tests.oauth import MCP
from tests.wire import called, find

pytestmark = pytest.mark.django_db

EVERY = pytest.mark.parametrize("name", OPERATIONS)
ROUTES = pytest.mark.parametrize("name", [called(o) for o in REGISTRY.routes() if o.name != "event_list"])
TOOLS = pytest.mark.parametrize("name", [called(o) for o in REGISTRY.tools()])


def test_every_operation_is_declared() -> None:
    registered = {called(o) for o in REGISTRY.all()}
    assert registered - OPERATIONS.keys() == set(), "say in OPERATIONS who may call these"
    assert OPERATIONS.keys() - registered == set(), "these are gone: take them out of OPERATIONS"


@EVERY
def test_an_operation_asks_for_the_scopes_that_are_declared(name: str) -> None:
    operation, declared = find(name), OPERATIONS[name]
    assert [" ".join(way) for way in operation.ways] == declared.ways


@ROUTES
def test_each_credential_may_do_over_rest_what_is_declared(world: World, name: str) -> None:
    assert outcomes(world, name, over_rest) == {who: expected(k, name) for who, k in world.knockers.items()}


@TOOLS
def test_each_credential_may_do_by_a_tool_what_is_declared(world: World, name: str) -> None:
    assert outcomes(world, name, as_tool) == {who: expected(k, name) for who, k in world.knockers.items()}


@ROUTES
def test_in_a_closed_space_a_role_does_what_it_may_there(world: World, name: str) -> None:
    """The approver is named in it, as one who reads; members and viewers aren't."""
    there = {
        role: replace(world.knockers[f"key of the {role}"], role=role, space="closed", elsewhere=not seen)
        for role, seen in {"owner": True, "admin": True, "member": False, "viewer": False}.items()
    }
    there["approver"] = replace(world.knockers["key of the approver"], role=Role.VIEWER, space="closed")
    found = {role: tried(world, knocker, name, over_rest, closed=True) for role, knocker in there.items()}
    assert found == {role: expected(knocker, name) for role, knocker in there.items()}


def test_each_credential_is_shown_the_tools_that_it_may_call(world: World) -> None:
    holding = {who: knocker for who, knocker in world.knockers.items() if not knocker.refused}
    for who, knocker in holding.items():
        tools = Tools(None).listed(authenticate(lowered(knocker), address=HERE, resource=MCP))
        may_call = [
            o.name
            for o in REGISTRY.tools()
            if not Needs(OPERATIONS[called(o)].scopes, None, {}).lacking(knocker.scopes)
        ]
        assert [tool["name"] for tool in tools] == list(dict.fromkeys(may_call)), who


@ROUTES
@pytest.mark.parametrize("person", ["owner", "superuser"])
def test_a_browsers_session_opens_no_operation(world: World, name: str, person: str) -> None:
    arguments = filled(OPERATIONS[name].call, world.ours.ids)
    assert request(world.browser(person), name, arguments, {}).status_code == 401
