"""Moving an action on its way from proposal to end.

Each move is one conditional UPDATE under the row's lock, with the expiry checked inside it. Of many callers
who try the same move exactly one makes it; the others get a conflict with the action as it is now.
"""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from django.conf import settings
from django.db import transaction
from django.utils import timezone

from accounts.actor import Actor, system_actor
from accounts.domain.jobs import enqueue
from actions.domain.actions import access_action
from actions.domain.consent import (
    ConsentBroken,
    check_claim,
    check_shown,
    people_for,
    standing_approvals,
)
from actions.domain.describe import describe
from actions.domain.inbox import announce
from actions.domain.lane import ACTIONS, RUN
from actions.domain.moves import MOVES, check_pair, may_finish
from actions.domain.notices.telling import tell
from actions.domain.policies.applying import denied, verdict_on
from actions.domain.readiness import check_ready, is_ready
from actions.models import EXPIRING, STALE_AFTER, Action, Approval, Policy, PolicyEffect, Status
from memoryhub.common.errors import Conflict, Forbidden, ValidationFailed
from memoryhub.common.text import check_text

REASON = 500
FLAG_STALE = "flag_stale_action"

Changes = dict[str, Any]


@dataclass(frozen=True)
class Asked:
    """What comes with a move, and the moment of it; `rule` is the one that approves, where no person does."""

    receipt: dict[str, Any] | None
    digest: str | None
    reason: str
    now: datetime
    rule: Policy | None = None


def approve_action(actor: Actor, id: str, *, digest: str, reason: str = "") -> Action:
    """Consent to exactly what was shown: `digest` is the one on the page that the person read."""
    return transition_action(actor, id, Status.PENDING, Status.APPROVED, digest=digest, reason=reason)


def reject_action(actor: Actor, id: str, *, reason: str = "") -> Action:
    return transition_action(actor, id, Status.PENDING, Status.REJECTED, reason=reason)


def transition_action(
    actor: Actor,
    id: str,
    start: str,
    to: str,
    *,
    receipt: dict[str, Any] | None = None,
    digest: str | None = None,
    reason: str = "",
) -> Action:
    """Move an action from `start` to `to`, if it still is in `start`.

    InvalidTransition: there is no such move. Forbidden: it isn't this actor's to make. Conflict: it is not in
    `start` any more (or its time is over), or what would be consented to has changed; `current` is the action.
    PreconditionFailed: it can't be claimed now, and stays approved.
    """
    action = access_action(actor, id)
    check_pair(start, to)
    MOVES[start, to](actor, action)
    check_reason(reason)
    try:
        with transaction.atomic():
            locked = lock_action(action, start, to)
            move(actor, locked, to, Asked(receipt, digest, reason, timezone.now()))
    except ConsentBroken as broken:
        fail_unsent(action, broken.message)
        raise
    return access_action(actor, action.uid)


def apply_rules(account_id: UUID, action_id: UUID) -> bool:
    """Approve what an auto rule of the space approves, once it is known where it leads."""
    action = Action.objects.filter(account_id=account_id, id=action_id).with_current().get()
    if action.status != Status.PENDING or not is_ready(action):
        return False
    verdict = verdict_on(action)
    if verdict.effect != PolicyEffect.AUTO or verdict.rule is None:
        return False
    asked = Asked(None, None, f"By the rule “{verdict.rule.name}”."[:REASON], timezone.now(), verdict.rule)
    with transaction.atomic():
        locked = lock_action(action, Status.PENDING, Status.APPROVED)
        move(system_actor(account_id), locked, Status.APPROVED, asked)
    return True


def fail_unsent(action: Action, reason: str) -> None:
    """The system gives up an approved action that nobody has started."""
    system = system_actor(action.account_id)
    transition_action(system, action.uid, Status.APPROVED, Status.FAILED, reason=reason[:REASON])


def check_reason(reason: str) -> None:
    check_text(reason, "reason")
    if len(reason) > REASON:
        raise ValidationFailed({"reason": [f"Must have at most {REASON} characters. Shorten it."]})


def lock_action(action: Action, start: str, to: str) -> Action:
    """The row as it is now, held until the transaction ends; a conflict unless it is in `start`."""
    rows = Action.objects.filter(account_id=action.account_id, id=action.id)
    rows.select_for_update(no_key=True).values_list("id").get()
    locked = rows.with_current().get()
    status = locked.status if to == Status.EXPIRED else locked.status_at(timezone.now())
    if status != start:
        raise moved_on(locked, start)
    return locked


def move(actor: Actor, action: Action, to: str, asked: Asked) -> None:
    """Make the move on the locked row, with its event and the hint to open pages."""
    changes = STEPS[to](actor, action, asked)
    if changes is None:
        tell(actor, action, "action.seconded")
        announce(action.space_id, action.account_id)
        return
    if asked.receipt is not None:
        changes["receipt"] = asked.receipt
    if not still_there(action, to, asked.now).update(status=to, updated_at=asked.now, **changes):
        raise moved_on(action, action.status)
    tell(actor, action, f"action.{to}")
    announce(action.space_id, action.account_id)


def still_there(action: Action, to: str, now: datetime) -> Any:
    """The row, if it is where this move starts and its time is not over (or, to expire, is)."""
    rows = Action.objects.filter(
        account_id=action.account_id, id=action.id, status=action.status, revision=action.revision
    )
    if to == Status.EXPIRED:
        return rows.filter(expires_at__lte=now)
    return rows.filter(expires_at__gt=now) if action.status in EXPIRING else rows


def moved_on(action: Action, start: str) -> Conflict:
    status = action.status_at(timezone.now())
    return Conflict(
        f"This action is {status}, not {start}. Nothing was changed.",
        expected=str(start),
        actual=status,
        current=describe(action),
    )


def _approve(actor: Actor, action: Action, asked: Asked) -> Changes | None:
    """None: more people have to agree, and it stays pending."""
    if asked.rule is None:
        check_shown(action, asked.digest)
    check_ready(action)
    verdict = verdict_on(action)
    if verdict.effect == PolicyEffect.DENY and verdict.rule:
        raise denied(verdict.rule)
    record_decision(actor, action, "approve", asked)
    if asked.rule is None and people_for(action) < verdict.approvals:
        return None
    if action.executor == "worker":
        undone_until = asked.now + timedelta(seconds=settings.UNDO_SECONDS)
        enqueue(RUN, action.account_id, action.id, run_after=undone_until, lane=ACTIONS)
    return {"decided_at": asked.now}


def _reject(actor: Actor, action: Action, asked: Asked) -> Changes:
    void_own_approval(actor, action, asked.now)
    record_decision(actor, action, "reject", asked)
    return {"decided_at": asked.now, "finished_at": asked.now, "reason": asked.reason}


def void_own_approval(actor: Actor, action: Action, now: datetime) -> None:
    """Of who agreed, and rejects it now, because more people were asked for."""
    assert actor.user_id is not None
    own = Approval.objects.filter(account_id=action.account_id, action_id=action.id, user_id=actor.user_id)
    own.filter(voided_at=None).update(voided_at=now)


def record_decision(actor: Actor, action: Action, decision: str, asked: Asked) -> None:
    """On the revision that stands, with the digest it has; a rule's in the name of who stands for it."""
    person = asked.rule.owner_id if asked.rule else actor.user_id
    assert person is not None
    if any(a.user_id == person for a in standing_approvals(action)) and decision == "approve":
        raise Conflict("You have agreed to this already; somebody else has to agree too.")
    Approval.objects.create(
        account_id=action.account_id,
        space_id=action.space_id,
        action=action,
        revision=action.revision,
        digest=action.current.digest,
        user_id=person,
        policy=asked.rule,
        policy_version=asked.rule.version if asked.rule else None,
        decision=decision,
        reason=asked.reason,
        decided_at=asked.now,
    )


def _claim(actor: Actor, action: Action, asked: Asked) -> Changes:
    check_claim(action, asked.now)
    enqueue(FLAG_STALE, action.account_id, action.id, run_after=asked.now + STALE_AFTER)
    return {"claimed_by": actor.key, "claimed_at": asked.now}


def _finish(actor: Actor, action: Action, asked: Asked) -> Changes:
    if action.status == Status.EXECUTING and not may_finish(actor, action):
        raise Forbidden("Only the credential that claimed this action can say how it ended.")
    return _end(actor, action, asked)


def _end(actor: Actor, action: Action, asked: Asked) -> Changes:
    return {"finished_at": asked.now, "reason": asked.reason}


STEPS: dict[str, Callable[[Actor, Action, Asked], Changes | None]] = {
    Status.APPROVED: _approve,
    Status.REJECTED: _reject,
    Status.EXECUTING: _claim,
    Status.DONE: _finish,
    Status.FAILED: _finish,
    Status.EXPIRED: _end,
    Status.CANCELLED: _end,
}
