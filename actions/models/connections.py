from typing import Any

from django.db import models
from django.db.models import Q

from accounts.models import Tenant
from memoryhub.common.ids import typed_id

VENDORS = ("slack", "google", "github", "notion")


class ConnectionQuerySet(models.QuerySet["Connection"]):
    def standing(self) -> "ConnectionQuerySet":
        return self.filter(revoked_at=None)


class Connection(Tenant):
    """An account's link to a vendor, at most one at a time for each. Made anew it is another connection.

    `vendor_ref` is the vendor's own id of whose account it is there; consent is pinned to it. `sealed` holds the
    tokens, and opens in this row alone. `trouble` is why the vendor turned the last call down, "" while it works.

    Of one that a person signed in for, `expires_at` is the end of its access token, `generation` counts how often
    the tokens were renewed, and until `renewing_until` one process is asking for the next. `broken`: there will be
    no next, until a person signs in again.
    """

    vendor = models.CharField(max_length=8, choices=[(v, v) for v in VENDORS])
    vendor_ref = models.CharField(max_length=255)
    name = models.CharField(max_length=255)
    scopes: Any = models.JSONField(default=list)
    sealed = models.TextField(editable=False)
    connected_by = models.ForeignKey("accounts.User", models.PROTECT, related_name="+")
    connected_at = models.DateTimeField()
    checked_at = models.DateTimeField()
    trouble = models.CharField(max_length=80, blank=True)
    signed_in = models.BooleanField(default=False)
    expires_at = models.DateTimeField(null=True, blank=True)
    generation = models.PositiveIntegerField(default=0)
    renewing_until = models.DateTimeField(null=True, blank=True)
    broken = models.BooleanField(default=False)
    used_at = models.DateTimeField(null=True, blank=True)
    revoked_at = models.DateTimeField(null=True, blank=True)

    objects = ConnectionQuerySet.as_manager()

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["account", "vendor"], condition=Q(revoked_at=None), name="one_connection_a_vendor"
            ),
            models.CheckConstraint(
                condition=Q(revoked_at=None) | Q(sealed=""), name="revoked_connections_hold_nothing"
            ),
        ]

    @property
    def uid(self) -> str:
        return typed_id("con", self.id)
