"""What each credential may do by each operation, over REST and as an MCP tool.

A new operation needs a line in OPERATIONS.
"""

from dataclasses import replace

import pytest

from accounts.domain.credentials import authenticate
from accounts.domain.keys import create_key
from accounts.scopes import EVERY_SCOPE, FAMILIES, Role
from memoryhub.common.errors import Forbidden
from memoryhub.common.tenancy import tenant
from memoryhub.mcp.tools import Tools
from memoryhub.operations.base import REGISTRY
from tests.matrix.asking import HERE, as_tool, lowered, outcomes, over_rest, request, tried
from tests.matrix.operations import FORBIDDEN, OPERATIONS, Needs, expected, filled
from tests.matrix.world import Knocker, World, undone
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


@EVERY
def test_a_key_without_the_family_of_an_operation_has_it_on_no_way(world: World, name: str) -> None:
    """The owner's, with every scope."""
    operation = find(name)
    others = [family for family in FAMILIES if family != operation.family]
    with undone():
        knocker = Knocker(key_for(world, others))
        actor = authenticate(lowered(knocker), address=HERE)
        arguments = filled(OPERATIONS[name].call, world.ours.ids)
        with pytest.raises(Forbidden) as refused:
            operation(actor, arguments)
        assert refused.value.details == {"missing_families": [operation.family]}
        assert Tools(operation.family).listed(actor) == []
        if operation.route and name != "event_list":
            assert tried(world, knocker, name, over_rest) == FORBIDDEN


def key_for(world: World, families: list[str]) -> str:
    space, scopes = world.ours.main.id, list(EVERY_SCOPE)
    with tenant(world.ours.account.id):
        made = create_key(
            world.ours.actor("owner"), name="few", scopes=scopes, families=families, default_space_id=space
        )
    return made.secret


@pytest.mark.parametrize(("method", "path"), [("GET", "export"), ("POST", "import")])
def test_what_is_no_operation_belongs_to_the_hubs_family(world: World, method: str, path: str) -> None:
    with undone():
        for family, refused in (("connector", True), ("hub", False)):
            headers = {"Authorization": f"Bearer {key_for(world, [family])}"}
            answer = world.browser("nobody").generic(method, f"/v1/{path}", headers=headers, REMOTE_ADDR=HERE)
            assert (answer.status_code == 403) is refused


@ROUTES
@pytest.mark.parametrize("person", ["owner", "superuser"])
def test_a_browsers_session_opens_no_operation(world: World, name: str, person: str) -> None:
    arguments = filled(OPERATIONS[name].call, world.ours.ids)
    assert request(world.browser(person), name, arguments, {}).status_code == 401
