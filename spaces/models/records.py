from typing import Any

from django.db import models
from django.db.models import Q

from spaces.models.scoped import Scoped, ScopedQuerySet, Version


class RecordQuerySet(ScopedQuerySet["Record"]):
    pass


class Record(Scoped):
    """A row of a named collection. Due at an instant (`due_at`) or on a calendar day (`due_on`), never both."""

    collection = models.CharField(max_length=64)
    key = models.CharField(max_length=200, blank=True)
    status = models.CharField(max_length=64, default="open")
    due_at = models.DateTimeField(null=True, blank=True)
    due_on = models.DateField(null=True, blank=True)
    data: Any = models.JSONField(default=dict, blank=True)
    origin = models.CharField(max_length=5, default="agent", choices=[("agent", "agent"), ("user", "user")])
    version = models.PositiveIntegerField(default=1)
    written_by = models.CharField(max_length=80)
    created_at = models.DateTimeField()
    updated_at = models.DateTimeField()

    objects = RecordQuerySet.as_manager()

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["account", "space", "collection", "key"], condition=~Q(key=""), name="record_key"
            ),
            models.CheckConstraint(condition=Q(due_at=None) | Q(due_on=None), name="record_one_due"),
        ]
        indexes = [
            models.Index(
                fields=["account", "space", "collection", "-created_at", "-id"], name="record_newest"
            )
        ]


class RecordVersion(Version):
    record = models.ForeignKey(
        Record, models.CASCADE, db_constraint=False, db_index=False, related_name="versions"
    )

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["account", "record", "version"], name="record_version")
        ]
