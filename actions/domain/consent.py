"""Consent integrity: what the approver saw is what runs.

The digest is recomputed from the stored bytes when a person approves, and again against every recorded
approval when the action is claimed.
"""

from datetime import datetime
from typing import Any
from uuid import UUID

from accounts.actor import Actor
from accounts.models import Membership
from accounts.scopes import Right, Role
from actions.domain.describe import describe
from actions.domain.digests import consent_digest, is_intact, is_same
from actions.domain.policies.applying import verdict_on
from actions.domain.policies.deciding import Verdict
from actions.domain.preconditions import check_preconditions
from actions.models import Action, ActionRevision, Approval, PolicyEffect
from memoryhub.common.errors import Conflict, HubError, PreconditionFailed, ValidationFailed
from spaces.domain.access import access_space


class ConsentBroken(Conflict):
    """What is stored is not what was approved. It fails for good, and that outlives the refusal."""

    keeps_writes = True


def check_shown(action: Action, shown: str | None) -> None:
    """The digest of what the person was shown, against what is stored; under the action's lock."""
    if not shown:
        raise ValidationFailed(
            {"digest": ["Approving needs the digest of what was shown. Use the action's page."]}
        )
    actual = consent_digest(action, action.current)
    if is_same(shown, actual) and is_intact(action, action.current):
        return
    raise Conflict(
        "This is not what you were shown: it has changed. Read it again before you decide.",
        expected=shown[:64],
        actual=actual,
        current={"action": describe(action), "changed": changed_since(action, shown)},
    )


def check_claim(action: Action, now: datetime) -> None:
    """Whatever has to hold at the moment of carrying out, under the action's lock."""
    check_consent(action)
    check_running(action)
    failed = [
        c.name
        for c in check_preconditions(action.space, action.current.preconditions, now)
        if c.holds is False
    ]
    if failed:
        raise PreconditionFailed(
            f"{len(failed)} of its preconditions don't hold: {', '.join(failed)}. It stays approved.",
            failed=failed,
        )


def check_consent(action: Action) -> None:
    approvals = standing_approvals(action)
    if not approvals or not action.is_whole or not _is_as_approved(action, approvals):
        raise ConsentBroken("What is stored is not what was approved. It was not carried out and has failed.")
    if not all(may_still_decide(action, approval) for approval in approvals):
        raise PreconditionFailed(
            "Who approved this may no longer decide here. Cancel it and propose it again.",
            failed=["approver"],
        )
    check_rules(action, approvals)


def _is_as_approved(action: Action, approvals: list[Approval]) -> bool:
    digest = consent_digest(action, action.current)
    return is_intact(action, action.current) and all(is_same(a.digest, digest) for a in approvals)


def check_rules(action: Action, approvals: list[Approval]) -> None:
    """The rules as they are now: what they deny, or no longer approve, was not consented to."""
    verdict = verdict_on(action)
    if verdict.effect == PolicyEffect.DENY and verdict.rule:
        raise ConsentBroken(f"A rule of this space denies it by now: {verdict.rule.name}. It has failed.")
    by_people = [a for a in approvals if a.policy_id is None]
    if by_people:
        if len(by_people) < verdict.approvals:
            raise PreconditionFailed(
                f"The rules ask for {verdict.approvals} people by now. Cancel it and propose it again.",
                failed=["approvals"],
            )
    elif not any(verdict.rule and (a.policy_id, a.policy_version) == _now(verdict) for a in approvals):
        raise ConsentBroken(
            "The rule that approved this has changed or ended. It was not carried out and has failed."
        )


def people_for(action: Action) -> int:
    """How many have agreed to the revision that stands."""
    return len({a.user_id for a in standing_approvals(action) if a.policy_id is None})


def _now(verdict: Verdict) -> tuple[UUID | None, int | None]:
    rule = verdict.rule if verdict.effect == PolicyEffect.AUTO else None
    return (rule.id, rule.version) if rule else (None, -1)


def check_running(action: Action) -> None:
    if where := paused_in(action):
        raise PreconditionFailed(f"Actions are paused in this {where}. It stays approved.", failed=["paused"])


def paused_in(action: Action) -> str:
    """Which kill switch is on: "account", "space" or ""."""
    if action.account.actions_paused:
        return "account"
    return "space" if action.space.actions_paused else ""


def standing_approvals(action: Action) -> list[Approval]:
    return list(
        Approval.objects.filter(
            account_id=action.account_id,
            action_id=action.id,
            revision=action.revision,
            decision="approve",
            voided_at=None,
        )
        .select_related("user")
        .order_by("decided_at", "id")
    )


def may_still_decide(action: Action, approval: Approval) -> bool:
    """Rights are checked when they are used: an approval lasts no longer than its giver's right to give it."""
    member = Membership.objects.filter(
        account_id=action.account_id, user_id=approval.user_id, user__is_active=True
    ).first()
    if member is None:
        return False
    person = Actor(
        account_id=action.account_id, kind="person", role=Role(member.role), user_id=approval.user_id
    )
    try:
        access_space(person, action.space_id, right=Right.DECIDE)
    except HubError:
        return False
    return True


def changed_since(action: Action, shown: str) -> list[str]:
    """Which parts differ from the revision that had the digest; all are suspect if none had."""
    before = ActionRevision.objects.filter(
        account_id=action.account_id, action_id=action.id, digest=shown
    ).first()
    if before is None:
        return ["everything"]
    return [name for name, was in _parts(before).items() if was != _parts(action.current)[name]]


def _parts(revision: ActionRevision) -> dict[str, Any]:
    return {
        "revision": revision.number,
        "summary": revision.summary,
        "class_version": revision.schema_version,
        "payload": revision.payload_json,
        "preconditions": revision.preconditions_json,
        "expires_at": revision.expires_at,
    }
