from django.contrib.postgres.fields import ArrayField
from django.db import models

from accounts.scopes import PROFILES
from memoryhub.common.ids import new_id


class GrantQuerySet(models.QuerySet["Grant"]):
    def connected(self) -> "GrantQuerySet":
        """Those whose client came for its tokens."""
        return self.exclude(connected_at=None)

    def live(self) -> "GrantQuerySet":
        """Not ended, and of a person who is still in the account."""
        here = models.Q(user__memberships__account_id=models.F("account_id"), user__is_active=True)
        return self.filter(here, revoked_at=None)


class Grant(models.Model):
    """What a person lets a hosted client do in their name. Its tokens are of one family, which has its id.

    It begins when they agree, and is `connected_at` when the client exchanges the code it got, of which only a
    hash is kept. `name` and `host` are what the client called itself then and where it was sent.
    """

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    account = models.ForeignKey("accounts.Account", models.CASCADE, related_name="grants")
    user = models.ForeignKey("accounts.User", models.CASCADE, related_name="grants")
    application = models.ForeignKey("accounts.Application", models.SET_NULL, null=True, related_name="grants")
    name = models.CharField(max_length=120)
    host = models.CharField(max_length=255)
    scopes = ArrayField(models.CharField(max_length=32))
    resources = ArrayField(models.CharField(max_length=255))
    profile = models.CharField(max_length=16, default="generic", choices=[(p, p) for p in PROFILES])
    default_space_id = models.UUIDField()
    space_ids = ArrayField(models.UUIDField(), null=True, blank=True)
    code_hash = models.CharField(max_length=64, unique=True, editable=False)
    created_at = models.DateTimeField(auto_now_add=True)
    connected_at = models.DateTimeField(null=True, blank=True)
    revoked_at = models.DateTimeField(null=True, blank=True)
    last_used_at = models.DateTimeField(null=True, blank=True)
    last_used_address = models.CharField(max_length=64, blank=True)
    last_used_client = models.CharField(max_length=200, blank=True)

    objects = GrantQuerySet.as_manager()

    class Meta:
        indexes = [models.Index(fields=["account", "-created_at", "-id"], name="grants_by_account")]

    def __str__(self) -> str:
        return f"grant {self.id}"

    @property
    def is_live(self) -> bool:
        return self.revoked_at is None
