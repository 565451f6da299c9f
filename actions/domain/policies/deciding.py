"""What the rules of a space say of one action: deny before require before auto, the first that matches."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from actions.domain.policies.conditions import satisfies, touches
from actions.models import Policy, PolicyEffect

ORDER = (PolicyEffect.DENY, PolicyEffect.REQUIRE, PolicyEffect.AUTO)
MATCHED, PART, OTHER_CLASS, CONDITIONS, OVER, NOT_REACHED = (
    "matched",
    "in part",
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
    """`rules` are those that stand. An auto rule over its limit asks a person instead, and ends the search.

    A rule that asks because of a part of what is reached doesn't speak for the rest: those that ask are looked at
    further, and the one that asks most people decides.
    """
    trace: list[Step] = []
    met: list[Step] = []
    for rule in in_order(rules):
        is_open = not met or (met[-1].outcome == PART and rule.effect == PolicyEffect.REQUIRE)
        outcome = _outcome(rule, class_name, payload, used.get(rule.id, Used())) if is_open else NOT_REACHED
        trace.append(Step(rule, outcome))
        met += trace[-1:] if outcome in (MATCHED, PART, OVER) else []
    return _verdict(met, tuple(trace))


def _verdict(met: Sequence[Step], trace: tuple[Step, ...]) -> Verdict:
    if not met:
        return Verdict(trace=trace)
    rule = max(met, key=lambda step: _people(step.rule)).rule
    over = met[-1].outcome == OVER
    effect = PolicyEffect.REQUIRE if over else rule.effect
    return Verdict(effect=effect, rule=rule, approvals=_people(rule), over=over, trace=trace)


def _people(rule: Policy) -> int:
    return rule.approvals if rule.effect == PolicyEffect.REQUIRE else 1


def _outcome(rule: Policy, class_name: str, payload: Mapping[str, Any], used: Used) -> str:
    if rule.class_name not in ("", class_name):
        return OTHER_CLASS
    whole = satisfies(class_name, payload, rule.conditions)
    if rule.effect == PolicyEffect.AUTO:
        return CONDITIONS if not whole else OVER if _is_over(rule, used) else MATCHED
    if not touches(class_name, payload, rule.conditions):
        return CONDITIONS
    return MATCHED if whole or rule.effect == PolicyEffect.DENY else PART


def _is_over(rule: Policy, used: Used) -> bool:
    hour = rule.per_hour is not None and used.hour >= rule.per_hour
    return hour or (rule.per_day is not None and used.day >= rule.per_day)
