from django.db import models
from django.db.models import Exists, OuterRef, Q

from accounts.actor import Actor
from accounts.models import Tenant
from accounts.models.accounts import ROLES

SECRET_POLICIES = [
    ("redact", "Cut secrets out"),
    ("reject", "Refuse what holds one"),
    ("quarantine", "Cut them out and hold memories for review"),
]
VISIBILITIES = ("account", "members")
DREAM_MODES = ("off", "client", "server")
CAPTURE_MODES = ("off", "review", "on")
ACCOUNT_WIDE_ROLES = {"owner", "admin"}


def sees_all(actor: Actor) -> bool:
    """Whether the actor sees also those spaces that are for named members, without being named."""
    return actor.kind == "system" or actor.role in ACCOUNT_WIDE_ROLES


class SpaceQuerySet(models.QuerySet["Space"]):
    def visible_to(self, actor: Actor) -> "SpaceQuerySet":
        """The spaces this actor may read: of its account, opened to it, and within its key's list."""
        spaces = self.filter(account_id=actor.account_id)
        if actor.space_ids is not None:
            spaces = spaces.filter(id__in=actor.space_ids)
        if sees_all(actor):
            return spaces
        if actor.user_id is None:
            return spaces.filter(visibility="account")
        named = SpaceMember.objects.filter(
            account_id=actor.account_id, space_id=OuterRef("id"), user_id=actor.user_id
        )
        return spaces.filter(Q(visibility="account") | Exists(named))


class Space(Tenant):
    """A part of an account that some of its members read or write. Holds everything remembered."""

    name = models.CharField(max_length=120)
    slug = models.SlugField(max_length=64)
    description = models.CharField(max_length=1000, blank=True)
    time_zone = models.CharField(max_length=64, default="UTC")
    visibility = models.CharField(
        max_length=8,
        default="account",
        choices=[("account", "The whole account"), ("members", "Named members")],
    )
    secret_policy = models.CharField(max_length=10, default="redact", choices=SECRET_POLICIES)
    scratch_days = models.PositiveSmallIntegerField(default=7)
    closed_statuses = models.JSONField(default=dict, blank=True, help_text="collection → statuses that close")
    capture_mode = models.CharField(
        max_length=6, default="off", choices=[(mode, mode) for mode in CAPTURE_MODES]
    )
    actions_paused = models.BooleanField(default=False, help_text="Kill switch: nothing here runs")
    dream_mode = models.CharField(max_length=6, default="off", choices=[(m, m) for m in DREAM_MODES])
    dream_review = models.BooleanField(default=False, help_text="A dream's changes wait for a person")
    dream_hours = models.PositiveSmallIntegerField(default=24, help_text="Between dreams")
    clustered_at = models.DateTimeField(null=True, blank=True)
    reflected_at = models.DateTimeField(null=True, blank=True)
    next_action = models.PositiveIntegerField(default=1)
    inbox_version = models.PositiveBigIntegerField(default=0)
    version = models.PositiveIntegerField(default=1)
    created_at = models.DateTimeField(auto_now_add=True)

    objects = SpaceQuerySet.as_manager()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["account", "slug"], name="space_slug"),
            models.CheckConstraint(condition=Q(dream_mode__in=DREAM_MODES), name="space_dream_mode"),
            models.CheckConstraint(condition=Q(capture_mode__in=CAPTURE_MODES), name="space_capture_mode"),
        ]
        permissions = [("export_space", "Can export any space")]


class SpaceMember(Tenant):
    """A person's role in one space, narrower than the account's."""

    space = models.ForeignKey(
        Space, models.CASCADE, db_constraint=False, db_index=False, related_name="members"
    )
    user = models.ForeignKey("accounts.User", models.CASCADE, related_name="+")
    role = models.CharField(max_length=16, choices=ROLES)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["account", "space", "user"], name="space_member")]
