from datetime import datetime
from enum import StrEnum
from typing import Any

from django.db import models
from django.db.models import Exists, OuterRef, Q

from accounts.models import Membership
from accounts.scopes import Role
from memoryhub.common.ids import typed_id
from spaces.models.scoped import Scoped, ScopedQuerySet, Version


class PolicyEffect(StrEnum):
    DENY = "deny"
    REQUIRE = "require"
    AUTO = "auto"


class PolicyQuerySet(ScopedQuerySet["Policy"]):
    def standing(self, now: datetime) -> "PolicyQuerySet":
        """One that approves by itself stands only while its owner is one of the team's."""
        owners = Membership.objects.filter(role=Role.OWNER, user__is_active=True)
        its_own = owners.filter(account_id=OuterRef("account_id"), user_id=OuterRef("owner_id"))
        lasting = self.filter(Q(expires_at=None) | Q(expires_at__gt=now), ended_at=None)
        return lasting.filter(~Q(effect=PolicyEffect.AUTO) | Exists(its_own))


class Policy(Scoped):
    """A rule of a space about what agents may do. `class_name` "" means every class, which no auto rule may.

    `conditions` are typed by the class (actions.domain.policies.conditions). `approvals` counts the people that a
    require rule asks for. `owner` stands for an auto rule: what it approves, it approves in their name.
    """

    name = models.CharField(max_length=120)
    effect = models.CharField(max_length=7, choices=[(e.value, e.value) for e in PolicyEffect])
    class_name = models.CharField(max_length=64, blank=True)
    conditions: Any = models.JSONField(default=dict)
    approvals = models.PositiveSmallIntegerField(default=1)
    per_hour = models.PositiveIntegerField(null=True, blank=True)
    per_day = models.PositiveIntegerField(null=True, blank=True)
    owner = models.ForeignKey("accounts.User", models.PROTECT, related_name="+")
    expires_at = models.DateTimeField(null=True, blank=True)
    version = models.PositiveIntegerField(default=1)
    created_at = models.DateTimeField()
    updated_at = models.DateTimeField()
    ended_at = models.DateTimeField(null=True, blank=True)

    objects = PolicyQuerySet.as_manager()

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=Q(approvals__gte=1, approvals__lte=3), name="policy_asks_for_one_to_three"
            ),
            models.CheckConstraint(
                condition=~Q(effect="auto") | (~Q(class_name="") & Q(expires_at__isnull=False)),
                name="auto_policy_is_bounded",
            ),
        ]
        indexes = [models.Index(fields=["account", "space"], name="policies_of_space")]

    @property
    def uid(self) -> str:
        return typed_id("pol", self.id)


class PolicyVersion(Version):
    """How a rule read before it was changed or ended."""

    policy = models.ForeignKey(
        Policy, models.CASCADE, db_constraint=False, db_index=False, related_name="versions"
    )

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["account", "policy", "version"], name="policy_version")
        ]
