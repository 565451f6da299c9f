from typing import Any

from django.db import models
from django.db.models import Q
from django.utils import timezone

from accounts.models import Tenant
from spaces.models.spaces import Space

STATES = ("waiting", "running", "ready", "done", "failed", "cancelled", "taken")
WORKING = ("waiting", "running")


class TransferQuerySet(models.QuerySet["Transfer"]):
    def of(self, space: Space) -> "TransferQuerySet":
        """Of the space, and of the account as a whole."""
        return self.filter(Q(space_id=space.id) | Q(space_id=None), account_id=space.account_id)


class Transfer(Tenant):
    """An export or an import that a worker carries out, for one person. `space` null is the whole account.

    Its content is in parts, until it has been taken, or its time is over. `report` is what an import did or, as a
    dry run, would do.
    """

    direction = models.CharField(max_length=3, choices=[("out", "out"), ("in", "in")])
    space = models.ForeignKey(
        Space, models.CASCADE, null=True, blank=True, db_constraint=False, db_index=False, related_name="+"
    )
    user = models.ForeignKey("accounts.User", models.CASCADE, related_name="+")
    state = models.CharField(max_length=9, default="waiting", choices=[(s, s) for s in STATES])
    name = models.CharField(max_length=200, blank=True)
    part = models.CharField(max_length=64, blank=True)
    dry_run = models.BooleanField(default=False)
    keep = models.BooleanField(default=False)
    done = models.PositiveIntegerField(default=0)
    total = models.PositiveIntegerField(default=0)
    size = models.PositiveBigIntegerField(default=0)
    report: Any = models.JSONField(null=True, blank=True)
    error = models.CharField(max_length=1000, blank=True)
    created_at = models.DateTimeField(default=timezone.now)
    finished_at = models.DateTimeField(null=True, blank=True)
    expires_at = models.DateTimeField()

    objects = TransferQuerySet.as_manager()

    class Meta:
        constraints = [models.CheckConstraint(condition=Q(state__in=STATES), name="transfer_state")]
        indexes = [models.Index(fields=["account", "space", "-created_at", "-id"], name="transfer_newest")]

    @property
    def working(self) -> bool:
        return self.state in WORKING

    @property
    def percent(self) -> int:
        return min(100, self.done * 100 // self.total) if self.total else 0


class TransferPart(Tenant):
    """A piece of the content, in order of numbers."""

    transfer = models.ForeignKey(
        Transfer, models.CASCADE, db_constraint=False, db_index=False, related_name="parts"
    )
    number = models.PositiveIntegerField()
    data = models.BinaryField()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["account", "transfer", "number"], name="transfer_part")
        ]
