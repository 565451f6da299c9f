from typing import Any

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import Q

from spaces.models.scoped import Scoped, ScopedQuerySet, Version

PLAN_TYPES = ("plan", "prd", "task", "reasoning_trace")
PLAN_STATUSES = ("draft", "active", "completed")


class PlanQuerySet(ScopedQuerySet["Plan"]):
    pass


class Plan(Scoped):
    """A titled document as it stands. Every version of it, this one too, is a PlanVersion."""

    title = models.CharField(max_length=200)
    content = models.TextField()
    tags = ArrayField(models.CharField(max_length=50), default=list, blank=True)
    metadata: Any = models.JSONField(default=dict, blank=True)
    type = models.CharField(max_length=15, default="plan", choices=[(t, t) for t in PLAN_TYPES])
    status = models.CharField(max_length=9, default="draft", choices=[(s, s) for s in PLAN_STATUSES])
    version = models.PositiveIntegerField(default=1)
    written_by = models.CharField(max_length=80)
    created_at = models.DateTimeField()
    updated_at = models.DateTimeField()

    objects = PlanQuerySet.as_manager()

    class Meta:
        constraints = [
            models.CheckConstraint(condition=Q(type__in=PLAN_TYPES), name="plan_type"),
            models.CheckConstraint(condition=Q(status__in=PLAN_STATUSES), name="plan_status"),
        ]
        indexes = [models.Index(fields=["account", "space", "-updated_at", "-id"], name="plan_latest")]


class PlanVersion(Version):
    """A version is written once and never changed. `diff` is the unified one of the content against the version
    before: empty in the first, and where the content stayed. `changed` names the other
    fields that did not stay."""

    plan = models.ForeignKey(
        Plan, models.CASCADE, db_constraint=False, db_index=False, related_name="versions"
    )
    diff = models.TextField(blank=True)
    changed = ArrayField(models.CharField(max_length=10), default=list, blank=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["account", "plan", "version"], name="plan_version")]
