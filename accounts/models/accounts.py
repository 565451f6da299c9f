from django.db import models
from django.utils import timezone

from accounts.scopes import Role
from memoryhub.common.ids import new_id

ROLES = [(r.value, r.value) for r in Role]


class Account(models.Model):
    """A team: the tenancy root."""

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    name = models.CharField(max_length=120)
    slug = models.SlugField(max_length=64, unique=True)
    actions_paused = models.BooleanField(default=False, help_text="Kill switch: nothing runs in any space")
    created_at = models.DateTimeField(auto_now_add=True)

    def __str__(self) -> str:
        return f"account {self.id}"


class Membership(models.Model):
    """A person in an account, with a role."""

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    account = models.ForeignKey(Account, models.CASCADE, related_name="memberships")
    user = models.ForeignKey("accounts.User", models.CASCADE, related_name="memberships")
    role = models.CharField(max_length=16, choices=ROLES)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["account", "user"], name="one_membership_a_person"),
            models.CheckConstraint(condition=models.Q(role__in=[r.value for r in Role]), name="known_role"),
        ]

    def __str__(self) -> str:
        return f"membership {self.id}"


class InvitationQuerySet(models.QuerySet["Invitation"]):
    def open(self) -> "InvitationQuerySet":
        return self.filter(accepted_at=None, expires_at__gt=timezone.now())


class Invitation(models.Model):
    """A one-time link into an account. Only the hash of its secret is kept."""

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    account = models.ForeignKey(Account, models.CASCADE, related_name="invitations")
    email = models.EmailField(blank=True)
    claimed_for = models.EmailField(
        blank=True, editable=False, help_text="Only who signs in with this address can still use it"
    )
    role = models.CharField(max_length=16, choices=ROLES)
    token_hash = models.BinaryField(max_length=32, unique=True, editable=False)
    invited_by = models.ForeignKey("accounts.User", models.SET_NULL, null=True, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)
    expires_at = models.DateTimeField()
    accepted_at = models.DateTimeField(null=True, blank=True)

    objects = InvitationQuerySet.as_manager()

    def __str__(self) -> str:
        return f"invitation {self.id}"
