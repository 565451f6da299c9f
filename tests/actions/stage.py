"""What tests of actions share: proposing one, and bringing it to any state by the ordinary way."""

from datetime import timedelta
from itertools import count
from typing import Any

from accounts.actor import Actor, system_actor
from actions.domain.actions import access_action
from actions.domain.digests import consent_digest
from actions.domain.proposals import Proposal, propose_action
from actions.domain.transitions import approve_action, reject_action, transition_action
from actions.models import Action
from tests.conftest import Cast

numbers = count(1)
PAYLOAD = {"channel": "#launch", "text": "We are live."}
WAY = {
    "pending": [],
    "approved": ["approved"],
    "rejected": ["rejected"],
    "cancelled": ["cancelled"],
    "executing": ["approved", "executing"],
    "done": ["approved", "executing", "done"],
    "failed": ["approved", "executing", "failed"],
    "expired": ["expired"],
}


def propose(actor: Actor, **fields: Any) -> Proposal:
    given = {
        "class_name": "chat.send",
        "summary": "Tell #launch that we are live",
        "payload": PAYLOAD,
        "idempotency_key": f"key-{next(numbers)}",
    }
    return propose_action(actor, **{**given, **fields})


def proposed(cast: Cast, **fields: Any) -> Action:
    return propose(cast.agent, **fields).action


def digest_of(action: Action) -> str:
    return consent_digest(action, action.current)


def approve(actor: Actor, action: Action) -> Action:
    return approve_action(actor, action.uid, digest=digest_of(action))


def take_step(cast: Cast, action: Action, to: str, clock: Any) -> Action:
    match to:
        case "approved":
            return approve(cast.approver, action)
        case "rejected":
            return reject_action(cast.approver, action.uid)
        case "expired":
            clock.shift(action.expires_at - action.created_at)
            moved = transition_action(system_actor(cast.account.id), action.uid, action.status, "expired")
            clock.shift(action.created_at - action.expires_at)
            return moved
        case _:
            return transition_action(cast.agent, action.uid, action.status, to)


def action_in(cast: Cast, status: str, clock: Any, **fields: Any) -> Action:
    """Proposed and claimed by the cast's agent, decided by its approver."""
    action = proposed(cast, **fields)
    for step in WAY[status]:
        action = take_step(cast, action, step, clock)
    return access_action(cast.agent, action.uid)


MINUTE, HOUR, DAY = timedelta(minutes=1), timedelta(hours=1), timedelta(days=1)
