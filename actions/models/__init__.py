from actions.models.actions import (
    EXPIRING,
    OPEN,
    STALE_AFTER,
    Action,
    ActionRevision,
    Approval,
    Status,
    holding,
    stale,
)

__all__ = [
    "EXPIRING",
    "OPEN",
    "STALE_AFTER",
    "Action",
    "ActionRevision",
    "Approval",
    "Status",
    "holding",
    "stale",
]
