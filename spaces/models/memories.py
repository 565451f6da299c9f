from datetime import datetime
from typing import Any

from django.contrib.postgres.fields import ArrayField
from django.contrib.postgres.indexes import GinIndex
from django.contrib.postgres.search import SearchVectorField
from django.db import models
from django.db.models import Q
from django.utils import timezone
from pgvector.django import SparseVectorField

from accounts.actor import AGENTS, Actor
from accounts.models import Tenant
from spaces.models.scoped import ScopedQuerySet, Version
from spaces.models.spaces import Space

KINDS = ("fact", "decision", "preference", "question", "handoff", "done", "note")
TIERS = ("scratch", "long", "core")
ORIGINS = ("agent", "user")
TRUSTS = ("external", "agent", "reviewed", "person")
STATUSES = ("active", "superseded", "resolved", "quarantined", "dropped")
"""Quarantined: held until a person looks. Dropped: gone, by a dream that can still be undone."""


def words(names: tuple[str, ...]) -> list[tuple[str, str]]:
    return [(n, n) for n in names]


class MemoryQuerySet(ScopedQuerySet["Memory"]):
    def live(self, now: datetime | None = None) -> "MemoryQuerySet":
        """Neither over nor held back: expiry is decided at read time, on every path."""
        return self.unexpired(now).exclude(status="quarantined")

    def unexpired(self, now: datetime | None = None) -> "MemoryQuerySet":
        """Without what a dream has dropped, which only an undo reaches."""
        lasting = Q(expires_at=None) | Q(expires_at__gt=now or timezone.now()) | Q(pinned=True)
        return self.filter(lasting).exclude(status="dropped")

    def active(self, now: datetime | None = None) -> "MemoryQuerySet":
        return self.live(now).filter(status="active")

    def leaving_with(self, actor: Actor, now: datetime | None = None) -> "MemoryQuerySet":
        """What an export takes along. What is held back leaves with people only, never with an agent."""
        return self.live(now) if actor.kind in AGENTS else self.unexpired(now)

    def staying_behind(self, actor: Actor, now: datetime) -> "MemoryQuerySet":
        """All others. Said by itself, since to compare all with all those that leave takes the square of the time."""
        gone = ("dropped", "quarantined") if actor.kind in AGENTS else ("dropped",)
        return self.filter(Q(status__in=gone) | Q(expires_at__lte=now, pinned=False))

    def reached_from(self, space: Space) -> "MemoryQuerySet":
        """Those of the space, and of the account as a whole."""
        return self.filter(Q(space_id=space.id) | Q(space_id=None), account_id=space.account_id)

    def identical_to(self, *memories: "Memory") -> "MemoryQuerySet":
        """Of each, the one active row with its identity, expired or not; it may be the memory itself."""
        identities = [memory.identity for memory in memories]
        accounts = {memory.account_id for memory in memories}
        return self.filter(account_id__in=accounts, identity__in=identities, status="active")


UNREAD = ("search_vector", "search_weights")
"""What only the database searches by, and which is larger than the memory itself."""

_AllColumns = models.Manager.from_queryset(MemoryQuerySet)


class MemoryManager(_AllColumns["Memory"]):
    def get_queryset(self) -> MemoryQuerySet:
        return MemoryQuerySet(self.model, using=self._db).defer(*UNREAD)


class Memory(Tenant):
    """One durable statement. `space` null means the account as a whole.

    `identity` is the SHA-256 of what makes two memories identical (see spaces.domain.memories); it is unique
    among an account's active rows. `search_vector` is derived and rebuildable.
    """

    space = models.ForeignKey(
        Space, models.CASCADE, null=True, blank=True, db_constraint=False, db_index=False, related_name="+"
    )
    kind = models.CharField(max_length=12, default="fact", choices=words(KINDS))
    text = models.TextField()
    subject = models.CharField(max_length=120, blank=True)
    tier = models.CharField(max_length=8, default="long", choices=words(TIERS))
    topics = ArrayField(models.CharField(max_length=500), default=list, blank=True)
    tags = ArrayField(models.CharField(max_length=50), default=list, blank=True)
    path = models.CharField(max_length=255, blank=True)
    source_ref = models.CharField(max_length=500, blank=True)
    links: Any = models.JSONField(default=list, blank=True)
    metadata: Any = models.JSONField(default=dict, blank=True)
    importance = models.FloatField(default=0.5)
    pinned = models.BooleanField(default=False)
    origin = models.CharField(max_length=5, default="agent", choices=words(ORIGINS))
    trust = models.CharField(max_length=8, default="agent", choices=words(TRUSTS))
    decided_by = models.CharField(max_length=120, blank=True)
    agent = models.CharField(max_length=200, blank=True)
    agent_instance = models.CharField(max_length=200, blank=True)
    device_label = models.CharField(max_length=120, blank=True)
    session = models.CharField(max_length=200, blank=True)
    session_scoped = models.BooleanField(default=False)
    status = models.CharField(max_length=11, default="active", choices=words(STATUSES))
    held_for = ArrayField(models.CharField(max_length=20), default=list, blank=True)
    superseded_by = models.ForeignKey(
        "self",
        models.SET_NULL,
        null=True,
        blank=True,
        db_constraint=False,
        db_index=False,
        related_name="supersedes",
    )
    resolved_by = models.ForeignKey(
        "self",
        models.SET_NULL,
        null=True,
        blank=True,
        db_constraint=False,
        db_index=False,
        related_name="resolves",
    )
    occurred_at = models.DateTimeField()
    expires_at = models.DateTimeField(null=True, blank=True)
    recall_count = models.PositiveIntegerField(default=0)
    last_recalled_at = models.DateTimeField(null=True, blank=True)
    seen_count = models.PositiveIntegerField(default=1)
    last_seen_at = models.DateTimeField()
    version = models.PositiveIntegerField(default=1)
    written_by = models.CharField(max_length=80)
    redactions: Any = models.JSONField(default=list, blank=True)
    created_at = models.DateTimeField()
    updated_at = models.DateTimeField()
    identity = models.BinaryField(max_length=32, editable=False)
    search_vector = SearchVectorField(null=True, editable=False)
    search_weights = SparseVectorField(null=True, editable=False)
    search_version = models.PositiveSmallIntegerField(default=0, editable=False)

    objects = MemoryManager()

    def expired(self, now: datetime) -> bool:
        return not self.pinned and self.expires_at is not None and self.expires_at <= now

    class Meta:
        verbose_name_plural = "memories"
        constraints = [
            models.UniqueConstraint(
                fields=["account", "identity"], condition=Q(status="active"), name="memory_identity"
            ),
            models.CheckConstraint(
                condition=Q(importance__gte=0, importance__lte=1), name="memory_importance"
            ),
            models.CheckConstraint(condition=Q(kind__in=KINDS), name="memory_kind"),
            models.CheckConstraint(condition=Q(tier__in=TIERS), name="memory_tier"),
            models.CheckConstraint(condition=Q(origin__in=ORIGINS), name="memory_origin"),
            models.CheckConstraint(condition=Q(trust__in=TRUSTS), name="memory_trust"),
            models.CheckConstraint(condition=Q(status__in=STATUSES), name="memory_status"),
        ]
        indexes = [
            models.Index(fields=["account", "space", "-created_at", "-id"], name="memory_newest"),
            models.Index(fields=["account", "superseded_by"], name="memory_superseded_by"),
            models.Index(fields=["account", "resolved_by"], name="memory_resolved_by"),
            models.Index(
                fields=["account", "expires_at"], condition=Q(expires_at__isnull=False), name="memory_expiry"
            ),
            # What was said just before and after in the same session.
            models.Index(
                fields=["account", "session", "occurred_at", "id"],
                condition=~Q(session=""),
                name="memory_session",
            ),
            # Without a list of what is yet to be indexed: each search would read all of it, word by word.
            GinIndex(fields=["search_vector"], fastupdate=False, name="memory_words"),
        ]


class MemoryVersion(Version):
    memory = models.ForeignKey(
        Memory, models.CASCADE, db_constraint=False, db_index=False, related_name="versions"
    )

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["account", "memory", "version"], name="memory_version")
        ]
