import json
import logging
from collections.abc import Collection, Iterable, Iterator
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Any

from django.db import models
from django.db.models import F, Prefetch, Q

from actions.models.connections import Connection
from actions.models.policies import Policy
from memoryhub.common.errors import Conflict
from memoryhub.common.ids import typed_id
from spaces.models.scoped import Scoped, ScopedQuerySet

log = logging.getLogger(__name__)


class Status(StrEnum):
    PENDING = "pending"
    APPROVED = "approved"
    REJECTED = "rejected"
    EXECUTING = "executing"
    DONE = "done"
    FAILED = "failed"
    EXPIRED = "expired"
    CANCELLED = "cancelled"


OPEN = (Status.PENDING, Status.APPROVED, Status.EXECUTING)
EXPIRING = (Status.PENDING, Status.APPROVED)
STALE_AFTER = timedelta(minutes=60)


class ActionQuerySet(ScopedQuerySet["Action"]):
    def with_current(self) -> "ActionQuerySet":
        """Loads the revision that stands, and the account and space: one more query for any number of rows."""
        standing = ActionRevision.objects.filter(number=F("action__revision")).select_related("connection")
        return self.select_related("account", "space").prefetch_related(
            Prefetch("revisions", standing, to_attr="standing")
        )

    def in_status(self, statuses: Collection[str], now: datetime) -> "ActionQuerySet":
        return self.filter(holding(statuses, now))


def whole(actions: Iterable["Action"]) -> Iterator["Action"]:
    """Those whose standing revision is stored, of some loaded by `with_current()`: one whose rows somebody altered by
    hand breaks no list."""
    for action in actions:
        if action.is_whole:
            yield action
        else:
            log.error("%s is left out of a list: its standing revision is not stored", action.uid)


def holding(statuses: Collection[str], now: datetime) -> Q:
    """By what a reader is told: an open action past its expiry is expired, swept or not."""
    wanted = Q(status__in=[s for s in statuses if s not in EXPIRING])
    if still_open := [s for s in statuses if s in EXPIRING]:
        wanted |= Q(status__in=still_open, expires_at__gt=now)
    if Status.EXPIRED in statuses:
        wanted |= Q(status__in=EXPIRING, expires_at__lte=now)
    return wanted


def snoozed(now: datetime) -> Q:
    return Q(status=Status.PENDING, snoozed_until__gt=now)


def in_doubt() -> Q:
    """Our worker doesn't know whether it was carried out, and has to be told."""
    return Q(status=Status.EXECUTING) & ~Q(doubt="")


def stale(now: datetime) -> Q:
    """Claimed long ago, and nothing heard since."""
    return Q(status=Status.EXECUTING, claimed_at__lte=now - STALE_AFTER)


class Action(Scoped):
    """Something an agent wants done outside, waiting for a person's consent.

    `number` is the short id's number (A7), per space, never reused. What is consented to is the revision that
    stands; `content` is the SHA-256 over class and payload that makes a repeated proposal the same one.
    """

    number = models.PositiveIntegerField()
    class_name = models.CharField(max_length=64)
    status = models.CharField(
        max_length=9, default=Status.PENDING, choices=[(s.value, s.value) for s in Status]
    )
    revision = models.PositiveIntegerField(default=1)
    idempotency_key = models.CharField(max_length=200)
    content = models.BinaryField(max_length=32, editable=False)
    meta: Any = models.JSONField(default=dict, blank=True)
    executor = models.CharField(
        max_length=6, default="agent", choices=[("agent", "agent"), ("worker", "worker")]
    )
    proposer = models.CharField(max_length=80)
    proposer_name = models.CharField(max_length=200, blank=True)
    agent = models.CharField(max_length=200, blank=True)
    session = models.CharField(max_length=200, blank=True)
    expires_at = models.DateTimeField()
    created_at = models.DateTimeField()
    updated_at = models.DateTimeField()
    decided_at = models.DateTimeField(null=True, blank=True)
    claimed_by = models.CharField(max_length=80, blank=True)
    claimed_at = models.DateTimeField(null=True, blank=True)
    finished_at = models.DateTimeField(null=True, blank=True)
    receipt: Any = models.JSONField(null=True, blank=True)
    reason = models.CharField(max_length=500, blank=True)
    snoozed_until = models.DateTimeField(null=True, blank=True)
    doubt = models.CharField(
        max_length=300, blank=True, help_text="Why our worker can't go on without a person; empty if it can"
    )

    objects = ActionQuerySet.as_manager()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["account", "space", "number"], name="action_number"),
            models.UniqueConstraint(
                fields=["account", "space", "idempotency_key"], name="action_idempotency"
            ),
            models.CheckConstraint(condition=Q(status__in=[s.value for s in Status]), name="action_status"),
        ]
        indexes = [
            models.Index(fields=["account", "space", "status", "-created_at", "-id"], name="action_inbox"),
        ]

    @property
    def short_id(self) -> str:
        return f"A{self.number}"

    @property
    def uid(self) -> str:
        return typed_id("act", self.id)

    @property
    def current(self) -> "ActionRevision":
        """The revision that stands, as loaded by `with_current()`."""
        for revision in self._standing():
            return revision
        raise Conflict("What this action says is not stored any more: somebody has changed its rows by hand.")

    @property
    def is_whole(self) -> bool:
        """Whether the revision that stands is stored."""
        return bool(self._standing())

    def _standing(self) -> "list[ActionRevision]":
        return self.standing  # type: ignore[attr-defined,no-any-return]

    def status_at(self, now: datetime) -> str:
        """What a reader is told."""
        return Status.EXPIRED.value if self.status in EXPIRING and self.expires_at <= now else self.status

    def is_stale(self, now: datetime) -> bool:
        """The same as the filter of this name."""
        claimed = self.claimed_at if self.status == Status.EXECUTING else None
        return claimed is not None and claimed <= now - STALE_AFTER


class ActionRevision(Scoped):
    """What would be done, exactly. Written once: the application's login may not update it.

    Payload and preconditions are kept as their canonical JSON text, so that what is stored, shown and hashed
    is the same, byte for byte.
    """

    action = models.ForeignKey(
        Action, models.CASCADE, db_constraint=False, db_index=False, related_name="revisions"
    )
    number = models.PositiveIntegerField()
    schema_version = models.PositiveSmallIntegerField(default=1)
    connection = models.ForeignKey(
        Connection,
        models.RESTRICT,
        null=True,
        blank=True,
        db_constraint=False,
        db_index=False,
        related_name="+",
    )
    summary = models.CharField(max_length=500)
    payload_json = models.TextField()
    preconditions_json = models.TextField(default="{}")
    expires_at = models.DateTimeField()
    digest = models.CharField(max_length=64)
    written_by = models.CharField(max_length=80)
    created_at = models.DateTimeField()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["account", "action", "number"], name="action_revision")
        ]

    @property
    def payload(self) -> dict[str, Any]:
        return _read(self.payload_json)

    @property
    def preconditions(self) -> dict[str, Any]:
        return _read(self.preconditions_json)


def _read(text: str) -> dict[str, Any]:
    """What was altered past being an object is shown as it is, so that it can be seen; it can't be approved."""
    try:
        value = json.loads(text)
    except ValueError:
        value = None
    return value if isinstance(value, dict) else {"unreadable": text}


class Approval(Scoped):
    """A person's decision on one revision, with the digest of what they were shown; or an auto rule's, in the
    name of the person who stands for it."""

    action = models.ForeignKey(
        Action, models.CASCADE, db_constraint=False, db_index=False, related_name="approvals"
    )
    revision = models.PositiveIntegerField()
    digest = models.CharField(max_length=64)
    user = models.ForeignKey("accounts.User", models.PROTECT, related_name="+")
    policy = models.ForeignKey(
        Policy, models.RESTRICT, null=True, blank=True, db_constraint=False, db_index=False, related_name="+"
    )
    policy_version = models.PositiveIntegerField(null=True, blank=True)
    decision = models.CharField(max_length=7, choices=[("approve", "approve"), ("reject", "reject")])
    reason = models.CharField(max_length=500, blank=True)
    decided_at = models.DateTimeField()
    voided_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["account", "action", "revision", "user"],
                condition=Q(voided_at=None),
                name="one_decision_a_person",
            )
        ]
        indexes = [models.Index(fields=["account", "action", "revision"], name="approvals_of_action")]
