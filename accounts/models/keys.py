from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.utils import timezone

from accounts.scopes import FAMILIES, PROFILES
from memoryhub.common.ids import new_id


def every_family() -> list[str]:
    return list(FAMILIES)


class AgentKeyQuerySet(models.QuerySet["AgentKey"]):
    def live(self) -> "AgentKeyQuerySet":
        now = timezone.now()
        return self.filter(revoked_at=None).exclude(expires_at__lte=now)


class AgentKey(models.Model):
    """A bearer secret for an agent. Only an HMAC of it is kept; `hint` shows its last four characters."""

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    account = models.ForeignKey("accounts.Account", models.CASCADE, related_name="keys")
    name = models.CharField(max_length=120)
    prefix = models.CharField(max_length=16)
    hint = models.CharField(max_length=4)
    secret_hash = models.BinaryField(max_length=32, unique=True, editable=False)
    created_by = models.ForeignKey("accounts.User", models.CASCADE, null=True, related_name="keys")
    scopes = ArrayField(models.CharField(max_length=32))
    families = ArrayField(models.CharField(max_length=16), default=every_family)
    profile = models.CharField(max_length=16, default="generic", choices=[(p, p) for p in PROFILES])
    default_space_id = models.UUIDField(null=True)
    space_ids = ArrayField(models.UUIDField(), null=True, blank=True)
    device_label = models.CharField(max_length=120, blank=True)
    addresses = ArrayField(models.GenericIPAddressField(), default=list, blank=True)
    created_at = models.DateTimeField(auto_now_add=True)
    expires_at = models.DateTimeField(null=True, blank=True)
    revoked_at = models.DateTimeField(null=True, blank=True)
    replaced_by_id = models.UUIDField(null=True, editable=False, help_text="The key it was rotated into")
    last_used_at = models.DateTimeField(null=True, blank=True)
    last_used_address = models.CharField(max_length=64, blank=True)
    last_used_client = models.CharField(max_length=200, blank=True)

    objects = AgentKeyQuerySet.as_manager()

    class Meta:
        indexes = [models.Index(fields=["account", "-created_at", "-id"], name="keys_by_account")]

    def __str__(self) -> str:
        return f"key {self.id}"

    @property
    def is_live(self) -> bool:
        return self.revoked_at is None and (self.expires_at is None or self.expires_at > timezone.now())
