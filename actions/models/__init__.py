from actions.models.actions import (
    EXPIRING,
    OPEN,
    STALE_AFTER,
    Action,
    ActionRevision,
    Approval,
    Status,
    holding,
    in_doubt,
    snoozed,
    stale,
)
from actions.models.attempts import Attempt, Outcome
from actions.models.connections import VENDORS, Connection
from actions.models.policies import Policy, PolicyEffect, PolicyVersion

__all__ = [
    "EXPIRING",
    "OPEN",
    "STALE_AFTER",
    "VENDORS",
    "Action",
    "ActionRevision",
    "Approval",
    "Attempt",
    "Connection",
    "Outcome",
    "Policy",
    "PolicyEffect",
    "PolicyVersion",
    "Status",
    "holding",
    "in_doubt",
    "snoozed",
    "stale",
]
