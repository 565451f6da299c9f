from enum import StrEnum
from typing import Any

from django.db import models
from django.db.models import Q

from actions.models.actions import Action
from spaces.models.scoped import Scoped


class Outcome(StrEnum):
    UNKNOWN = "unknown"
    SENT = "sent"
    NOT_SENT = "not_sent"
    REFUSED = "refused"


class Attempt(Scoped):
    """One call to a vendor for an action. Committed as `unknown` before the call; what came of it after.

    `reason` is a short word of ours, never the vendor's text. `settled_by`: a person said what became of it.
    """

    action = models.ForeignKey(
        Action, models.CASCADE, db_constraint=False, db_index=False, related_name="attempts"
    )
    number = models.PositiveSmallIntegerField()
    revision = models.PositiveIntegerField()
    digest = models.CharField(max_length=64)
    outcome = models.CharField(
        max_length=8, default=Outcome.UNKNOWN, choices=[(o.value, o.value) for o in Outcome]
    )
    reason = models.CharField(max_length=80, blank=True)
    receipt: Any = models.JSONField(null=True, blank=True)
    started_at = models.DateTimeField()
    ended_at = models.DateTimeField(null=True, blank=True)
    settled_by = models.ForeignKey("accounts.User", models.PROTECT, null=True, blank=True, related_name="+")

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["account", "action", "number"], name="attempt_number"),
            models.UniqueConstraint(
                fields=["account", "action"], condition=Q(outcome="unknown"), name="one_unknown_attempt"
            ),
            models.UniqueConstraint(
                fields=["account", "action"], condition=Q(outcome="sent"), name="sent_once"
            ),
        ]
