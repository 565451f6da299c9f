"""What the rules of a space say of one action: deny before require before auto, the first that matches."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from actions.domain.policies.conditions import satisfies
from actions.models import Policy, PolicyEffect

ORDER = (PolicyEffect.DENY, PolicyEffect.REQUIRE, PolicyEffect.AUTO)
MATCHED, OTHER_CLASS, CONDITIONS, OVER, NOT_REACHED = (
    "matched",
    "other class",
    "conditions",
    "over",
    "not reached",
)


@dataclass(frozen=True)
class Used:
    """How much of its limits a rule has used."""

    hour: int = 0
    day: int = 0


@dataclass(frozen=True)
class Step:
    """One rule, and what came of it for this action."""

    rule: Policy
    outcome: str


@dataclass(frozen=True)
class Verdict:
    """Without any rule that matches: one approval. `over`: an auto rule matched, but its limit is reached."""

    effect: str = PolicyEffect.REQUIRE
    rule: Policy | None = None
    approvals: int = 1
    over: bool = False
    trace: tuple[Step, ...] = ()


def in_order(rules: Sequence[Policy]) -> list[Policy]:
    return sorted(rules, key=lambda rule: (ORDER.index(PolicyEffect(rule.effect)), rule.created_at, rule.id))


def decide(
    rules: Sequence[Policy], class_name: str, payload: Mapping[str, Any], used: Mapping[UUID, Used]
) -> Verdict:
    """`rules` are those that stand. An auto rule over its limit asks a person instead, and ends the search."""
    trace: list[Step] = []
    found: Policy | None = None
    for rule in in_order(rules):
        outcome = NOT_REACHED if found else _outcome(rule, class_name, payload, used.get(rule.id, Used()))
        trace.append(Step(rule, outcome))
        if outcome in (MATCHED, OVER):
            found = rule
    if found is None:
        return Verdict(trace=tuple(trace))
    over = any(step.outcome == OVER for step in trace)
    return Verdict(
        effect=PolicyEffect.REQUIRE if over else found.effect,
        rule=found,
        approvals=found.approvals if found.effect == PolicyEffect.REQUIRE else 1,
        over=over,
        trace=tuple(trace),
    )


def _outcome(rule: Policy, class_name: str, payload: Mapping[str, Any], used: Used) -> str:
    if rule.class_name not in ("", class_name):
        return OTHER_CLASS
    if not satisfies(class_name, payload, rule.conditions):
        return CONDITIONS
    return OVER if rule.effect == PolicyEffect.AUTO and _is_over(rule, used) else MATCHED


def _is_over(rule: Policy, used: Used) -> bool:
    hour = rule.per_hour is not None and used.hour >= rule.per_hour
    return hour or (rule.per_day is not None and used.day >= rule.per_day)
