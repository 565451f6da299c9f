from typing import Any

from django.db import models
from django.db.models import Q

from spaces.models.scoped import Scoped, ScopedQuerySet

STATUSES = ("pending", "approved", "rejected", "executing", "done", "failed", "expired", "cancelled")
OPEN = ("pending", "approved", "executing")


class ActionQuerySet(ScopedQuerySet["Action"]):
    pass


class Action(Scoped):
    """Something an agent wants done outside, waiting for a person's consent.

    `number` is the short id's number (A7), per space, never reused. What is consented to is the current
    revision; `content` is the SHA-256 over class and payload that makes a repeated proposal the same one.
    """

    number = models.PositiveIntegerField()
    class_name = models.CharField(max_length=64)
    status = models.CharField(max_length=9, default="pending", choices=[(s, s) for s in STATUSES])
    revision = models.PositiveIntegerField(default=1)
    idempotency_key = models.CharField(max_length=200)
    content = models.BinaryField(max_length=32, editable=False)
    meta: Any = models.JSONField(default=dict, blank=True)
    executor = models.CharField(
        max_length=6, default="agent", choices=[("agent", "agent"), ("worker", "worker")]
    )
    proposer = models.CharField(max_length=80)
    agent = models.CharField(max_length=200, blank=True)
    session = models.CharField(max_length=200, blank=True)
    expires_at = models.DateTimeField()
    created_at = models.DateTimeField()
    updated_at = models.DateTimeField()
    decided_at = models.DateTimeField(null=True, blank=True)
    claimed_by = models.CharField(max_length=80, blank=True)
    claimed_at = models.DateTimeField(null=True, blank=True)
    finished_at = models.DateTimeField(null=True, blank=True)
    receipt: Any = models.JSONField(null=True, blank=True)
    reason = models.CharField(max_length=500, blank=True)

    objects = ActionQuerySet.as_manager()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["account", "space", "number"], name="action_number"),
            models.UniqueConstraint(
                fields=["account", "space", "idempotency_key"], name="action_idempotency"
            ),
            models.CheckConstraint(condition=Q(status__in=STATUSES), name="action_status"),
        ]
        indexes = [
            models.Index(fields=["account", "space", "status", "-created_at", "-id"], name="action_inbox"),
        ]

    @property
    def short_id(self) -> str:
        return f"A{self.number}"


class ActionRevision(Scoped):
    """What would be done, exactly. Immutable; `digest` is over its canonical JSON with everything it depends on."""

    action = models.ForeignKey(
        Action, models.CASCADE, db_constraint=False, db_index=False, related_name="revisions"
    )
    number = models.PositiveIntegerField()
    schema_version = models.PositiveSmallIntegerField(default=1)
    summary = models.CharField(max_length=500)
    payload: Any = models.JSONField()
    preconditions: Any = models.JSONField(default=dict, blank=True)
    expires_at = models.DateTimeField()
    digest = models.CharField(max_length=64)
    written_by = models.CharField(max_length=80)
    created_at = models.DateTimeField()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["account", "action", "number"], name="action_revision")
        ]


class Approval(Scoped):
    """A person's decision on one revision, with the digest of what they were shown."""

    action = models.ForeignKey(
        Action, models.CASCADE, db_constraint=False, db_index=False, related_name="approvals"
    )
    revision = models.PositiveIntegerField()
    digest = models.CharField(max_length=64)
    user = models.ForeignKey("accounts.User", models.PROTECT, related_name="+")
    decision = models.CharField(max_length=7, choices=[("approve", "approve"), ("reject", "reject")])
    reason = models.CharField(max_length=500, blank=True)
    decided_at = models.DateTimeField()
    voided_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        indexes = [models.Index(fields=["account", "action", "revision"], name="approvals_of_action")]
