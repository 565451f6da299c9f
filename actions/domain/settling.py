"""What a person does about an action of which nobody knows whether it was carried out."""

from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone

from accounts.actor import Actor
from accounts.domain.jobs import enqueue
from actions.domain.actions import access_action
from actions.domain.execution import conclude
from actions.domain.lane import ACTIONS, RUN
from actions.domain.moves import must_decide
from actions.domain.notices.telling import tell
from actions.domain.transitions import check_reason, lock_action
from actions.models import Action, Attempt, Outcome, Status
from memoryhub.common.errors import Conflict


def settle_action(actor: Actor, id: str, *, happened: bool, reason: str = "") -> Action:
    """Say what became of it, having looked at the vendor. The worker's own move follows from that."""
    action = access_action(actor, id)
    must_decide(actor, action)
    check_reason(reason)
    with transaction.atomic():
        locked = lock_action(action, Status.EXECUTING, Status.DONE if happened else Status.FAILED)
        if not locked.doubt and _unknown(locked).exists():
            raise Conflict(
                "It is being carried out, or looked for, at this moment. Wait for what comes of it."
            )
        outcome = Outcome.SENT if happened else Outcome.NOT_SENT
        settled = _unknown(locked).update(
            outcome=outcome, reason="settled", settled_by_id=actor.user_id, ended_at=timezone.now()
        )
        if not settled:
            raise Conflict("What became of this action is known already. Nothing was changed.")
        tell(actor, action, "action.settled")
        receipt = {"settled_by_a_person": True}
        conclude(
            locked,
            receipt=receipt,
            failed="" if happened else reason or "A person found that it was not sent.",
        )
    return access_action(actor, action.uid)


def look_again(actor: Actor, id: str) -> Action:
    """Have the worker look for it at the vendor once more."""
    action = access_action(actor, id)
    must_decide(actor, action)
    if action.status != Status.EXECUTING or not _unknown(action).exists():
        raise Conflict("What became of this action is known already. Nothing was changed.")
    enqueue(RUN, action.account_id, action.id, lane=ACTIONS)
    return action


def _unknown(action: Action) -> QuerySet[Attempt]:
    return Attempt.objects.filter(account_id=action.account_id, action_id=action.id, outcome=Outcome.UNKNOWN)
