"""Every pair of states, tried by every kind of caller."""

from dataclasses import replace
from itertools import product

import pytest
from django.db import transaction

from accounts.actor import Actor, system_actor
from accounts.domain.accounts import add_member, person_actor
from accounts.models import User
from accounts.scopes import Role, Scope
from actions.domain.moves import moves_open_to
from actions.domain.transitions import transition_action
from actions.models import Action, Status
from memoryhub.common.errors import Forbidden, HubError, InvalidTransition, NotFound
from spaces.models import SpaceMember
from tests.actions.stage import action_in, approve, digest_of, propose, proposed
from tests.conftest import Cast, make_key

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("clock", "inside")]

STATES = [str(s) for s in Status]
DECIDERS = {"owner", "approver"}
MAY = {
    ("pending", "approved"): DECIDERS,
    ("pending", "rejected"): DECIDERS,
    ("pending", "expired"): {"system"},
    ("pending", "cancelled"): DECIDERS | {"proposing key", "proposing key without its scope to execute"},
    ("approved", "executing"): {
        "proposing key",
        "other key",
        "key that only executes",
        "grant",
        "key of the approver",
    },
    ("approved", "failed"): {"system"},
    ("approved", "expired"): {"system"},
    ("approved", "cancelled"): DECIDERS | {"proposing key", "proposing key without its scope to execute"},
    ("executing", "done"): {"proposing key"},
    ("executing", "failed"): DECIDERS | {"proposing key"},
}


@pytest.fixture
def callers(cast: Cast) -> dict[str, Actor]:
    """The proposer also is who claimed what is executing."""
    User.objects.create_superuser("staff@acme.example", "correct horse battery")
    add_member(cast.account.id, User.objects.get(email="staff@acme.example"), Role.MEMBER)
    other, _ = make_key(cast.teammate, cast.space)
    key_of_approver, _ = make_key(cast.approver, cast.space)
    return {
        "proposing key": cast.agent,
        "proposing key without its scope to execute": replace(
            cast.agent, scopes=frozenset({Scope.ACTIONS_PROPOSE})
        ),
        "other key": other,
        "key that only proposes": replace(other, scopes=frozenset({Scope.ACTIONS_PROPOSE})),
        "key that only executes": replace(other, scopes=frozenset({Scope.ACTIONS_EXECUTE})),
        "key of the approver": key_of_approver,
        "key of a viewer": make_key(cast.viewer, cast.space)[0],
        "grant": replace(other, kind="grant"),
        "viewer": cast.viewer,
        "member": cast.teammate,
        "approver": cast.approver,
        "owner": cast.owner,
        "admin": cast.admin,
        "staff": person_actor(User.objects.get(is_staff=True), cast.account.slug),
        "system": system_actor(cast.account.id),
        "outsider": cast.outsider,
    }


def attempt(actor: Actor, action: Action, start: str, to: str) -> type[HubError] | None:
    """What it is refused with; nothing stays of it."""
    point = transaction.savepoint()
    try:
        moved = transition_action(actor, action.uid, start, to, digest=digest_of(action))
        assert moved.status == to
    except HubError as refusal:
        return type(refusal)
    finally:
        transaction.savepoint_rollback(point)
    return None


def expected(caller: str, start: str, to: str) -> type[HubError] | None:
    if caller == "outsider":
        return NotFound
    if (start, to) not in MAY:
        return InvalidTransition
    return None if caller in MAY[start, to] else Forbidden


def test_each_caller_makes_exactly_the_moves_that_are_its_own(cast: Cast, callers: dict, clock) -> None:
    actions = {state: action_in(cast, state, clock) for state in STATES}
    found, wanted = {}, {}
    for start, to in product(STATES, STATES):
        late = actions[start].expires_at - actions[start].created_at if to == "expired" else None
        if late:
            clock.shift(late)
        for caller, actor in callers.items():
            found[caller, start, to] = attempt(actor, actions[start], start, to)
            wanted[caller, start, to] = expected(caller, start, to)
        if late:
            clock.shift(-late)
    assert {k: v for k, v in found.items() if v is not wanted[k]} == {}
    assert len(found) == len(callers) * 64


def test_the_moves_shown_to_a_caller_are_those_it_could_make(cast: Cast, callers: dict, clock) -> None:
    del callers["outsider"]
    for state in STATES:
        action = action_in(cast, state, clock)
        for caller, actor in callers.items():
            could = {to for (start, to), who in MAY.items() if start == state and caller in who}
            assert (caller, state, set(moves_open_to(actor, action))) == (caller, state, could)


def test_a_wrong_pair_says_where_the_action_can_go(cast: Cast, clock) -> None:
    action = action_in(cast, "approved", clock)
    with pytest.raises(InvalidTransition) as refusal:
        transition_action(cast.agent, action.short_id, "approved", "done")
    assert refusal.value.details == {
        "from": "approved",
        "to": "done",
        "allowed": ["executing", "failed", "expired", "cancelled"],
    }
    with pytest.raises(InvalidTransition) as refusal:
        transition_action(cast.agent, action.short_id, "rejected", "pending")
    assert refusal.value.details["allowed"] == []


def test_who_proposed_in_a_browser_can_not_decide_on_it(cast: Cast, clock) -> None:
    action = propose(cast.owner).action
    with pytest.raises(Forbidden, match="somebody else"):
        approve(cast.owner, action)
    assert approve(cast.approver, action).status == "approved"


def test_a_person_decides_on_what_their_own_agent_proposed(cast: Cast, clock) -> None:
    key, _ = make_key(cast.owner, cast.space)
    assert approve(cast.owner, propose(key).action).status == "approved"


def test_a_role_narrowed_in_the_space_takes_the_right_to_decide(cast: Cast, clock) -> None:
    SpaceMember.objects.create(
        account=cast.account, space=cast.space, user_id=cast.approver.user_id, role="member"
    )
    with pytest.raises(Forbidden, match="right to decide"):
        approve(cast.approver, proposed(cast))
