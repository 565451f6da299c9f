"""Deciding on several actions of one class at once. Each is decided by itself, on the digest of what was shown."""

from collections.abc import Sequence
from dataclasses import dataclass

from django.db import transaction
from django.utils import timezone

from accounts.actor import Actor
from actions.domain.actions import access_action
from actions.domain.inbox import list_inbox
from actions.domain.transitions import approve_action, reject_action
from actions.models import Action, Status
from memoryhub.common.errors import HubError, ValidationFailed

MOST = 50


@dataclass(frozen=True)
class Decided:
    """What came of one of them: its status now, and why it isn't what was asked for, if so."""

    id: str
    status: str
    refusal: str = ""


def list_together(actor: Actor, class_name: str) -> list[Action]:
    """The newest of a class that wait for this person, as many as can be decided on at once."""
    page = list_inbox(actor, class_name=class_name, size=MOST)
    return [action for action in page.items if action.status == Status.PENDING]


def list_chosen(actor: Actor, ids: Sequence[str]) -> list[Action]:
    """Those of them that still wait, in the order in which they were chosen."""
    if len(ids) > MOST:
        raise ValidationFailed({"chosen": [f"Choose between 1 and {MOST} of them."]})
    chosen = [access_action(actor, id) for id in dict.fromkeys(ids)]
    if len({action.class_name for action in chosen}) > 1:
        raise ValidationFailed({"chosen": ["All must be of one class."]})
    now = timezone.now()
    return [action for action in chosen if action.status_at(now) == Status.PENDING]


def decide_together(
    actor: Actor, chosen: Sequence[tuple[str, str]], to: str, *, reason: str = ""
) -> list[Decided]:
    """`chosen` are ids with the digests of what was shown. What can't be decided doesn't keep back the others."""
    if to not in (Status.APPROVED, Status.REJECTED):
        raise ValidationFailed({"to": ["Must be approved or rejected."]})
    if not 1 <= len(chosen) <= MOST:
        raise ValidationFailed({"chosen": [f"Choose between 1 and {MOST} of them."]})
    if len({access_action(actor, id).class_name for id, _ in chosen}) > 1:
        raise ValidationFailed({"chosen": ["All must be of one class."]})
    return [_decide(actor, id, digest, to, reason) for id, digest in chosen]


def _decide(actor: Actor, id: str, digest: str, to: str, reason: str) -> Decided:
    try:
        with transaction.atomic():
            if to == Status.APPROVED:
                action = approve_action(actor, id, digest=digest)
            else:
                action = reject_action(actor, id, reason=reason)
    except HubError as refusal:
        return Decided(id, access_action(actor, id).status, refusal.message)
    return Decided(action.short_id, action.status)
