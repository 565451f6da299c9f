"""What makes deciding on an action a matter for somebody who has just shown that they are themselves."""

from actions.domain.facts import reach_of
from actions.domain.policies.deciding import Verdict
from actions.models import Action

IRREVERSIBLE, OUTSIDE, FIRST_TIME, OVER = "irreversible", "outside", "first time", "over"
NOT_TAKEN_BACK = frozenset({"gmail.reply"})
"""Classes of ours whose effect nobody can take back. Of what an agent carries out itself nothing is known."""


def risks_of(action: Action, verdict: Verdict) -> list[str]:
    """Why it is of high risk; empty where it isn't."""
    reach = reach_of(action)
    found = {
        IRREVERSIBLE: action.class_name in NOT_TAKEN_BACK,
        OUTSIDE: bool(reach.outside),
        FIRST_TIME: bool(reach.first_time),
        OVER: verdict.over,
    }
    return [risk for risk, holds in found.items() if holds]
