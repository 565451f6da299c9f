from datetime import datetime
from enum import StrEnum
from typing import Any

from django.db import models

from accounts.models import Tenant
from memoryhub.common.ids import typed_id
from spaces.models import Space


class Switched(StrEnum):
    """Why a webhook is off."""

    BY_HAND = "by_hand"
    FAILING = "failing"
    GONE = "gone"


class Webhook(Tenant):
    """Where an account has itself told of what happens to actions: in one space, or in all.

    `sealed` holds the address and the secret, and opens in this row alone; `host` is what may be shown of the
    address. `former_until` is how long the secret before signs too. While it fails it rests between tries.
    """

    space = models.ForeignKey(
        Space, models.CASCADE, null=True, blank=True, db_constraint=False, db_index=False, related_name="+"
    )
    name = models.CharField(max_length=120)
    host = models.CharField(max_length=260)
    events: Any = models.JSONField(default=list)
    sealed = models.TextField(editable=False)
    former_until = models.DateTimeField(null=True, blank=True)
    off = models.CharField(max_length=7, blank=True, choices=[(s.value, s.value) for s in Switched])
    failing_since = models.DateTimeField(null=True, blank=True)
    rests_until = models.DateTimeField(null=True, blank=True)
    made_by = models.ForeignKey("accounts.User", models.PROTECT, related_name="+")
    created_at = models.DateTimeField()
    updated_at = models.DateTimeField()

    @property
    def uid(self) -> str:
        return typed_id("whk", self.id)

    def signs_twice(self, now: datetime) -> bool:
        return self.former_until is not None and self.former_until > now


class DeliveryState(StrEnum):
    PENDING = "pending"
    DELIVERED = "delivered"
    FAILED = "failed"


class Delivery(Tenant):
    """One message to a webhook, in the words it was first sent in. Its id is the message's, however often it is sent.

    `tries` are those of the round that began `since`; `status` and `trouble` tell how the last one ended.
    """

    webhook = models.ForeignKey(
        Webhook, models.CASCADE, db_constraint=False, db_index=False, related_name="deliveries"
    )
    space = models.ForeignKey(
        Space, models.CASCADE, null=True, blank=True, db_constraint=False, db_index=False, related_name="+"
    )
    event = models.CharField(max_length=48)
    body = models.TextField()
    state = models.CharField(
        max_length=9, default=DeliveryState.PENDING, choices=[(s.value, s.value) for s in DeliveryState]
    )
    tries = models.PositiveSmallIntegerField(default=0)
    status = models.PositiveSmallIntegerField(null=True, blank=True)
    trouble = models.CharField(max_length=80, blank=True)
    since = models.DateTimeField()
    created_at = models.DateTimeField()
    tried_at = models.DateTimeField(null=True, blank=True)
    again_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        indexes = [
            models.Index(fields=["account", "webhook", "-created_at", "-id"], name="deliveries_of_webhook")
        ]

    @property
    def uid(self) -> str:
        return typed_id("dlv", self.id)

    @property
    def message_id(self) -> str:
        return typed_id("msg", self.id)


class WebhookLetter(Tenant):
    """That a person is to be written to about a webhook that was switched off because it failed, or was.

    `told_at` is kept before the letter goes: what a worker that is gone had begun is not sent again.
    """

    webhook = models.ForeignKey(
        Webhook, models.CASCADE, db_constraint=False, db_index=False, related_name="letters"
    )
    user = models.ForeignKey("accounts.User", models.CASCADE, related_name="+")
    since = models.DateTimeField()
    trouble = models.CharField(max_length=80)
    created_at = models.DateTimeField()
    told_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        indexes = [models.Index(fields=["account", "webhook", "told_at"], name="letters_about_webhook")]


class About(StrEnum):
    """What a person is asked for: a decision, or what became of it."""

    DECIDE = "decide"
    SETTLE = "settle"


class Way(StrEnum):
    """By which a person is told."""

    MAIL = "mail"
    SLACK = "slack"


class Notice(Tenant):
    """That a person is to be told of an action in one way, or was.

    `told_at` of a message in Slack is kept before it goes, with `in_doubt`; what came of it takes the doubt away.
    """

    space = models.ForeignKey(Space, models.CASCADE, db_constraint=False, db_index=False, related_name="+")
    action = models.ForeignKey(
        "actions.Action", models.CASCADE, db_constraint=False, db_index=False, related_name="+"
    )
    user = models.ForeignKey("accounts.User", models.CASCADE, related_name="+")
    about = models.CharField(max_length=6, choices=[(a.value, a.value) for a in About])
    way = models.CharField(max_length=5, default=Way.MAIL, choices=[(w.value, w.value) for w in Way])
    urgent = models.BooleanField(default=False)
    created_at = models.DateTimeField()
    told_at = models.DateTimeField(null=True, blank=True)
    in_doubt = models.BooleanField(default=False)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["account", "action", "user", "about", "way"], name="one_notice_a_person"
            )
        ]
        indexes = [models.Index(fields=["account", "user", "way", "told_at"], name="notices_of_person")]


class MailMode(StrEnum):
    RISKY = "risky"
    EACH = "each"
    GATHERED = "gathered"
    NONE = "none"


class MailChoice(Tenant):
    """When a person of the account is written to, and whether in Slack too. Who never chose has the defaults.

    `slack_trouble` is why the last message there didn't arrive, "" where it did.
    """

    user = models.ForeignKey("accounts.User", models.CASCADE, related_name="+")
    mode = models.CharField(
        max_length=8, default=MailMode.RISKY, choices=[(m.value, m.value) for m in MailMode]
    )
    hours = models.PositiveSmallIntegerField(default=1, help_text="For which other news is gathered")
    slack = models.BooleanField(default=False)
    slack_trouble = models.CharField(max_length=80, blank=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["account", "user"], name="one_mail_choice_a_person")]
