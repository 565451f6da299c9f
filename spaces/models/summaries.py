from typing import Any

from django.db import models
from django.db.models import Q

from accounts.models import Tenant
from spaces.models.memories import Memory
from spaces.models.scoped import ScopedQuerySet
from spaces.models.spaces import Space

TRIGGERS = ("compaction", "end", "turns", "manual")


class SummaryQuerySet(ScopedQuerySet["Summary"]):
    pass


class Summary(Tenant):
    """What a session decided, in prose. `space` null means the account as a whole.

    `digest` is the SHA-256 of all that makes two summaries the same.
    """

    space = models.ForeignKey(
        Space, models.CASCADE, null=True, blank=True, db_constraint=False, db_index=False, related_name="+"
    )
    agent = models.CharField(max_length=200, blank=True)
    session = models.CharField(max_length=200, blank=True)
    trigger = models.CharField(max_length=10, choices=[(name, name) for name in TRIGGERS], default="manual")
    text = models.TextField(blank=True)
    redactions: Any = models.JSONField(default=list, blank=True)
    written_by = models.CharField(max_length=80)
    created_at = models.DateTimeField()
    digest = models.BinaryField(max_length=32, editable=False)

    objects = SummaryQuerySet.as_manager()

    class Meta:
        verbose_name_plural = "summaries"
        constraints = [models.CheckConstraint(condition=Q(trigger__in=TRIGGERS), name="summary_trigger")]
        indexes = [
            models.Index(fields=["account", "-created_at", "-id"], name="summary_newest"),
            models.Index(fields=["account", "space", "-created_at", "-id"], name="summary_newest_in_space"),
            models.Index(fields=["account", "digest", "created_at"], name="summary_digest"),
        ]


class SummaryItem(Tenant):
    """A memory that a summary recorded, or saw again. It goes when its memory does."""

    summary = models.ForeignKey(
        Summary, models.CASCADE, db_constraint=False, db_index=False, related_name="items"
    )
    memory = models.ForeignKey(
        Memory, models.CASCADE, db_constraint=False, db_index=False, related_name="summaries"
    )
    position = models.PositiveSmallIntegerField()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["account", "summary", "position"], name="summary_item")
        ]
        indexes = [models.Index(fields=["account", "memory"], name="summary_item_memory")]
