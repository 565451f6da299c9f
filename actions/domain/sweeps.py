"""What happens to an action when nobody does anything."""

from uuid import UUID

from django.db import transaction
from django.utils import timezone

from accounts.actor import system_actor
from actions.domain.inbox import announce
from actions.domain.notices.telling import tell
from actions.domain.transitions import transition_action
from actions.models import EXPIRING, Action, Status


def expire_action(account_id: UUID, action_id: UUID) -> bool:
    """End it if it is still open and its time is over. Readers are told so before this comes by."""
    rows = Action.objects.filter(account_id=account_id, id=action_id, status__in=EXPIRING)
    with transaction.atomic():
        action = rows.select_for_update(no_key=True).first()
        if action is None or action.expires_at > timezone.now():
            return False
        transition_action(system_actor(account_id), action.uid, action.status, Status.EXPIRED)
    return True


def flag_stale_action(account_id: UUID, action_id: UUID) -> bool:
    """Say that an action was claimed long ago and nothing was heard since."""
    action = Action.objects.filter(account_id=account_id, id=action_id).first()
    if action is None or not action.is_stale(timezone.now()):
        return False
    tell(system_actor(account_id), action, "action.stale")
    announce(action.space_id, account_id)
    return True
