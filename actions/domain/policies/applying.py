"""The rules of a space, applied to one of its actions: when it is proposed, approved, and about to run."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from django.db.models import Count, Q
from django.utils import timezone

from actions.domain.policies.deciding import Used, Verdict, decide
from actions.models import Action, Approval, Policy, PolicyEffect
from memoryhub.common.errors import Forbidden
from spaces.models import Space

HOUR, DAY = timedelta(hours=1), timedelta(days=1)


def verdict_on(action: Action) -> Verdict:
    """As the rules are now, for the revision that stands. What the action itself used is not counted."""
    return verdict_for(action.space, action.class_name, action.current.payload, but=action.id)


def verdict_for(
    space: Space, class_name: str, payload: dict[str, Any], *, but: UUID | None = None
) -> Verdict:
    now = timezone.now()
    rules = list(Policy.objects.inside(space).standing(now))
    return decide(rules, class_name, payload, used_by(space, rules, now, but=but))


def used_by(space: Space, rules: Sequence[Policy], now: datetime, *, but: UUID | None) -> dict[UUID, Used]:
    """By rule: the approvals it gave within the last hour and day. No query where no rule has a limit."""
    limited = [rule.id for rule in rules if rule.effect == PolicyEffect.AUTO]
    if not limited:
        return {}
    given = Approval.objects.filter(
        account_id=space.account_id, space_id=space.id, policy_id__in=limited, decided_at__gt=now - DAY
    )
    given = given.exclude(action_id=but) if but else given
    counted = given.values("policy_id").annotate(
        day=Count("id"), hour=Count("id", filter=Q(decided_at__gt=now - HOUR))
    )
    return {row["policy_id"]: Used(row["hour"], row["day"]) for row in counted.order_by("policy_id")}


def check_not_denied(space: Space, class_name: str, payload: dict[str, Any]) -> None:
    """A proposal that a rule denies is refused, by the rule's name: nobody is asked."""
    verdict = verdict_for(space, class_name, payload)
    if verdict.effect == PolicyEffect.DENY and verdict.rule:
        raise denied(verdict.rule)


def denied(rule: Policy) -> Forbidden:
    return Forbidden(f"A rule of this space denies it: {rule.name}.", policy=rule.uid)
