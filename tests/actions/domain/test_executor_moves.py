"""Every pair of states × every kind of caller, for what our own worker carries out."""

from dataclasses import replace
from itertools import product
from typing import Any

import pytest
from django.db import transaction

from accounts.actor import Actor, system_actor
from accounts.models import AgentKey
from actions.domain.transitions import reject_action, transition_action
from actions.models import Action, Status
from memoryhub.common.errors import HubError
from tests.actions.stage import approve, digest_of
from tests.conftest import Cast, make_key
from tests.vendors.stage import connected, now, prepared

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("clock", "inside")]

ISSUE = "github.create_issue"
PEOPLE = {"owner", "approver"}
WHO_MAY = {
    ("pending", "approved"): PEOPLE,
    ("pending", "rejected"): PEOPLE,
    ("pending", "cancelled"): PEOPLE | {"proposer"},
    ("approved", "cancelled"): PEOPLE | {"proposer"},
    ("approved", "executing"): {"system"},
    ("approved", "failed"): {"system"},
    ("executing", "done"): {"system"},
    ("executing", "failed"): PEOPLE | {"system"},
}
EXPIRING = {("pending", "expired"), ("approved", "expired")}
"""The system's, but only once the time is over: until then a conflict."""


def callers(cast: Cast) -> dict[str, Actor]:
    other, _ = make_key(cast.owner, cast.space)
    return {
        "proposer": cast.agent,
        "another key": other,
        "grant": replace(other, kind="grant", key_id=AgentKey.objects.first().id),  # type: ignore[union-attr]
        "viewer": cast.viewer,
        "member": cast.teammate,
        "admin": cast.admin,
        "approver": cast.approver,
        "owner": cast.owner,
        "system": system_actor(cast.account.id),
    }


def in_state(cast: Cast, clock: Any, status: str) -> Action:
    action, system = prepared(cast, ISSUE), system_actor(cast.account.id)
    if status in ("approved", "executing", "done", "failed"):
        action = approve(cast.owner, action)
    if status in ("executing", "done", "failed"):
        transition_action(system, action.uid, "approved", "executing")
    if status in ("done", "failed"):
        transition_action(system, action.uid, "executing", status)
    if status == "rejected":
        reject_action(cast.owner, action.uid)
    if status == "cancelled":
        transition_action(cast.agent, action.uid, "pending", "cancelled")
    if status == "expired":
        clock.shift(action.expires_at - action.created_at)
        transition_action(system, action.uid, "pending", "expired")
        clock.shift(action.created_at - action.expires_at)
    return now(action, cast)


def tried(actor: Actor, action: Action, to: str) -> str:
    """What came of it; it is undone."""
    try:
        with transaction.atomic():
            moved = transition_action(actor, action.uid, action.status, to, digest=digest_of(action))
            transaction.set_rollback(True)
            return moved.status
    except HubError as refusal:
        return refusal.code


def test_each_move_is_made_by_those_alone_who_may_make_it(cast: Cast, clock: Any, vendors: Any) -> None:
    connected(cast.owner, ISSUE)
    who, found, expected = callers(cast), {}, {}
    for start in Status:
        action = in_state(cast, clock, start)
        assert action.status == start
        for to, (name, actor) in product(Status, who.items()):
            pair = (str(start), str(to))
            found[(*pair, name)] = tried(actor, action, to)
            expected[(*pair, name)] = outcome(pair, name)
    assert found == expected
    print(f"{len(found)} moves: {len(Status) ** 2} pairs of states by {len(who)} kinds of callers")


def outcome(pair: tuple[str, str], name: str) -> str:
    if pair not in WHO_MAY and pair not in EXPIRING:
        return "invalid_transition"
    if pair in EXPIRING:
        return "conflict" if name == "system" else "forbidden"
    return pair[1] if name in WHO_MAY[pair] else "forbidden"
