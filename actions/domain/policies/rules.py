"""Making, changing and ending rules. Each keeps its history."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.db import transaction
from django.utils import timezone

from accounts.actor import Actor
from accounts.domain.events import record_event
from accounts.scopes import Right, Role
from actions.domain.inbox import announce
from actions.domain.policies.conditions import PINNED, check_conditions, satisfies, touches
from actions.domain.policies.deciding import in_order
from actions.domain.proposals import CLASS, CLASS_FORM
from actions.models import Action, Approval, Policy, PolicyEffect, PolicyVersion, whole
from memoryhub.common.errors import Forbidden, NotFound, ValidationFailed
from memoryhub.common.ids import parse_id
from memoryhub.common.naming import naming_fault
from memoryhub.common.secrets import cut
from memoryhub.common.secrets.policy import check_always
from spaces.domain.access import access_space, role_in
from spaces.domain.versions import check_version
from spaces.models import Space

LIFE, LONGEST = timedelta(days=90), timedelta(days=365)
BACK = timedelta(days=30)
MOST_RULES = 200
FIELDS = ("name", "effect", "class_name", "conditions", "approvals", "per_hour", "per_day", "expires_at")


@dataclass(frozen=True)
class Draft:
    """A rule as a person describes it. An auto rule without `expires_at` lasts 90 days."""

    name: str
    effect: str
    class_name: str = ""
    conditions: dict[str, Any] | None = None
    approvals: int = 1
    per_hour: int | None = None
    per_day: int | None = None
    expires_at: datetime | None = None


@dataclass(frozen=True)
class Backtest:
    """What a rule would have met with in the last 30 days, and how people decided there."""

    matched: int
    approved: int
    rejected: int


def list_policies(actor: Actor) -> list[Policy]:
    """Those that stand, in the order in which they are applied."""
    space = access_space(actor)
    rules = Policy.objects.inside(space).filter(ended_at=None).select_related("owner")
    return in_order(list(rules.order_by("created_at", "id")))


def access_policy(actor: Actor, id: str) -> Policy:
    found = Policy.objects.inside(access_space(actor)).filter(id=parse_id("pol", id), ended_at=None).first()
    if found is None:
        raise NotFound("policy")
    return found


def history_of(rule: Policy) -> list[PolicyVersion]:
    """How it read before, newest first."""
    versions = PolicyVersion.objects.filter(account_id=rule.account_id, policy_id=rule.id)
    return list(versions.order_by("-version"))


def create_policy(actor: Actor, draft: Draft) -> Policy:
    space = access_space(actor)
    check_may_rule(actor, space, draft.effect)
    fields = check_draft(draft)
    assert actor.user_id is not None
    with transaction.atomic():
        if Policy.objects.inside(space).filter(ended_at=None).count() >= MOST_RULES:
            raise ValidationFailed({"name": [f"A space can have {MOST_RULES} rules. End one first."]})
        now = timezone.now()
        rule = Policy.objects.create(
            account_id=space.account_id,
            space=space,
            owner_id=actor.user_id,
            created_at=now,
            updated_at=now,
            **fields,
        )
        _told(actor, rule)
    return rule


def change_policy(actor: Actor, id: str, draft: Draft, *, version: int) -> Policy:
    """What it approved before the change is no longer carried out: consent was to the rule as it was."""
    rule = access_policy(actor, id)
    for effect in (rule.effect, draft.effect):
        check_may_rule(actor, rule.space, effect)
    fields = check_draft(draft)
    with transaction.atomic():
        _keep(actor, rule, version, owner_id=actor.user_id, **fields)
    return access_policy(actor, id)


def end_policy(actor: Actor, id: str) -> None:
    rule = access_policy(actor, id)
    check_may_rule(
        actor, rule.space, PolicyEffect.REQUIRE if rule.effect == PolicyEffect.AUTO else rule.effect
    )
    with transaction.atomic():
        _keep(actor, rule, rule.version, ended_at=timezone.now())


def backtest(actor: Actor, draft: Draft) -> Backtest:
    """Over what was proposed in the last 30 days, as it stands."""
    space = access_space(actor)
    check_may_rule(actor, space, PolicyEffect.REQUIRE)
    fields = check_draft(draft)
    actions = Action.objects.inside(space).filter(created_at__gt=timezone.now() - BACK).with_current()
    if draft.class_name:
        actions = actions.filter(class_name=draft.class_name)
    meets = satisfies if draft.effect == PolicyEffect.AUTO else touches
    met = [a.id for a in whole(actions) if meets(a.class_name, a.current.payload, fields["conditions"])]
    decisions = Approval.objects.filter(account_id=space.account_id, action_id__in=met, voided_at=None)
    by = {
        decision: decisions.filter(decision=decision).values("action_id").distinct().count()
        for decision in ("approve", "reject")
    }
    return Backtest(len(met), by["approve"], by["reject"])


def pinned_draft(action: Action) -> Draft:
    """A rule for exactly this: every member of the payload is pinned, for its maker to loosen."""
    return Draft(
        name=f"Like {action.short_id}",
        effect=PolicyEffect.AUTO,
        class_name=action.class_name,
        conditions={PINNED: action.current.payload},
        per_day=10,
    )


def check_may_rule(actor: Actor, space: Space, effect: str) -> None:
    """Rules are for who manages; those that approve by themselves, for an owner alone."""
    role = role_in(actor, space)
    if not actor.is_person or not actor.has(Right.MANAGE):
        raise Forbidden("Rules are made by an owner or admin, in a browser.")
    if effect == PolicyEffect.AUTO and role != Role.OWNER:
        raise Forbidden("A rule that approves by itself is made by an owner.")


def check_draft(draft: Draft) -> dict[str, Any]:
    """A secret in its conditions is refused: with it cut out they would mean something else."""
    check_always(cut(draft.conditions or {}), whole=True)
    faults: dict[str, list[str]] = {}
    if fault := naming_fault(draft.name.strip()):
        faults["name"] = [fault]
    if draft.effect not in list(PolicyEffect):
        faults["effect"] = [f"Must be one of {', '.join(PolicyEffect)}."]
    if not 1 <= draft.approvals <= 3:
        faults["approvals"] = ["Must be between 1 and 3."]
    if draft.class_name and not CLASS.fullmatch(draft.class_name):
        faults["class_name"] = [CLASS_FORM]
    faults |= _auto_faults(draft) if draft.effect == PolicyEffect.AUTO else {}
    if faults:
        raise ValidationFailed(faults)
    auto = draft.effect == PolicyEffect.AUTO
    return {
        **{name: getattr(draft, name) for name in FIELDS},
        "conditions": check_conditions(draft.class_name, draft.conditions or {}),
        "expires_at": draft.expires_at or (timezone.now() + LIFE if auto else None),
    }


def _auto_faults(draft: Draft) -> dict[str, list[str]]:
    faults = {}
    if not draft.class_name:
        faults["class_name"] = ["A rule that approves by itself is for one class."]
    if draft.expires_at and not timezone.now() < draft.expires_at <= timezone.now() + LONGEST:
        faults["expires_at"] = [f"Must be in the next {LONGEST.days} days."]
    return faults


def _keep(actor: Actor, rule: Policy, version: int, **changes: Any) -> None:
    locked = Policy.objects.select_for_update().get(account_id=rule.account_id, id=rule.id)
    check_version(locked, version, "rule")
    PolicyVersion.objects.create(
        account_id=rule.account_id,
        policy=locked,
        version=locked.version,
        data={name: _plain(getattr(locked, name)) for name in FIELDS},
        written_by=actor.key,
        written_at=locked.updated_at,
    )
    rows = Policy.objects.filter(account_id=rule.account_id, id=rule.id)
    rows.update(version=locked.version + 1, updated_at=timezone.now(), **changes)
    _told(actor, locked)


def _told(actor: Actor, rule: Policy) -> None:
    record_event(actor, "settings.updated", "policy", rule.uid, space_id=rule.space_id)
    announce(rule.space_id, rule.account_id)


def _plain(value: Any) -> Any:
    return value.isoformat() if isinstance(value, datetime) else value
