"""Putting an action off: it is out of sight for a while, and nothing is decided."""

from datetime import datetime
from uuid import UUID

from django.db import transaction
from django.utils import timezone

from accounts.actor import Actor
from accounts.domain.events import record_event
from accounts.domain.jobs import enqueue
from actions.domain.actions import access_action
from actions.domain.inbox import announce
from actions.domain.moves import must_decide
from actions.domain.transitions import lock_action
from actions.models import Action, Status
from memoryhub.common.errors import ValidationFailed

WAKE = "wake_action"


def snooze_action(actor: Actor, id: str, *, until: datetime | None) -> Action:
    """Hide a pending action from the inbox of everybody in the space until then; None shows it again.

    It expires all the same: what lasts longer than the action does is refused.
    """
    action = access_action(actor, id)
    must_decide(actor, action)
    with transaction.atomic():
        locked = lock_action(action, Status.PENDING, Status.PENDING)
        if until is not None and not timezone.now() < until < locked.expires_at:
            raise ValidationFailed({"until": ["Must be between now and the time at which it expires."]})
        rows = Action.objects.filter(account_id=action.account_id, id=action.id)
        rows.update(snoozed_until=until, updated_at=timezone.now())
        kind = "action.snoozed" if until else "action.woken"
        record_event(actor, kind, "action", action.uid, space_id=action.space_id)
        if until:
            enqueue(WAKE, action.account_id, action.id, run_after=until)
        announce(action.space_id, action.account_id)
    return access_action(actor, action.uid)


def wake_action(account_id: UUID, action_id: UUID) -> bool:
    """Tell open pages that it is there again."""
    action = Action.objects.filter(account_id=account_id, id=action_id, status=Status.PENDING).first()
    if action is None or action.snoozed_until is None or action.snoozed_until > timezone.now():
        return False
    announce(action.space_id, account_id)
    return True
