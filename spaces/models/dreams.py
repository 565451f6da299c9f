from datetime import datetime
from typing import Any
from uuid import UUID

from django.contrib.postgres.fields import ArrayField
from django.contrib.postgres.indexes import GinIndex
from django.db import models
from django.db.models import Q

from accounts.models import Tenant
from spaces.models.memories import words
from spaces.models.scoped import Scoped, ScopedQuerySet

KINDS = ("dream", "clusters", "reflection")
THINKERS = ("client", "server", "rules")
OPEN = ("queued", "awaiting_result", "thinking", "validating", "review")
FINISHED = ("applied", "no_changes", "rejected", "failed", "undone")
RUN_STATUSES = (*OPEN, *FINISHED, "expired")
OPS = ("merge", "update", "retier", "expire", "drop", "add")
GIVES_WAY = Q(kind="clusters", status="review")
STATES = ("proposed", "applied", "skipped", "declined", "undone")


class DreamRunQuerySet(ScopedQuerySet["DreamRun"]):
    def open(self) -> "DreamRunQuerySet":
        return self.filter(status__in=OPEN)

    def in_the_way(self, now: datetime) -> "DreamRunQuerySet":
        """Open, and neither answered in vain nor giving way: no other run may begin."""
        lapsed = Q(status="awaiting_result", expires_at__lte=now)
        return self.open().exclude(lapsed).exclude(GIVES_WAY)

    def giving_way(self) -> "DreamRunQuerySet":
        """Near-identical memories that nobody has decided on: what is still so is proposed again."""
        return self.filter(GIVES_WAY)

    def dreams(self) -> "DreamRunQuerySet":
        """Those in which a model thinks because it was time to, which the interval counts from."""
        return self.filter(kind="dream")

    def undoable(self, now: datetime) -> "DreamRunQuerySet":
        return self.filter(status="applied", undo_until__gt=now)


class DreamRun(Scoped):
    """One consolidation of a space's memories.

    `input` names what the run may touch: {id: [version, time]}, without any text; a memory that isn't as it was
    then is stale. `reached` is how far it came with those that have their turn. `thinker` says who makes the
    proposals: an agent's model, the configured one, or rules alone. `answer_digest` is that of the result as it
    came. `version` rises with each step, for open pages.
    """

    kind = models.CharField(max_length=10, default="dream", choices=words(KINDS))
    thinker = models.CharField(max_length=6, choices=words(THINKERS))
    status = models.CharField(max_length=15, choices=words(RUN_STATUSES))
    review = models.BooleanField(default=False, help_text="A person decides before anything changes")
    input: Any = models.JSONField(default=dict, blank=True)
    reached = models.UUIDField(null=True, blank=True, editable=False)
    max_changes = models.PositiveSmallIntegerField(default=25)
    tries = models.PositiveSmallIntegerField(default=0)
    answer_digest = models.CharField(max_length=64, blank=True)
    notes = models.TextField(blank=True)
    trouble = models.CharField(max_length=300, blank=True, help_text="Why it failed; never a model's words")
    model = models.CharField(max_length=200, blank=True)
    tokens_in = models.PositiveIntegerField(null=True, blank=True)
    tokens_out = models.PositiveIntegerField(null=True, blank=True)
    think_ms = models.PositiveIntegerField(null=True, blank=True)
    conflicts: Any = models.JSONField(default=list, blank=True)
    started_by = models.CharField(max_length=80)
    submitted_by = models.CharField(max_length=80, blank=True)
    decided_by = models.CharField(max_length=80, blank=True)
    undone_by = models.CharField(max_length=80, blank=True)
    version = models.PositiveIntegerField(default=1)
    created_at = models.DateTimeField()
    expires_at = models.DateTimeField(null=True, blank=True)
    submitted_at = models.DateTimeField(null=True, blank=True)
    finished_at = models.DateTimeField(null=True, blank=True)
    undo_until = models.DateTimeField(null=True, blank=True)
    undone_at = models.DateTimeField(null=True, blank=True)

    objects = DreamRunQuerySet.as_manager()

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["account", "space"], condition=Q(status__in=OPEN), name="dream_one_open"
            ),
            models.CheckConstraint(condition=Q(status__in=RUN_STATUSES), name="dream_status"),
            models.CheckConstraint(condition=Q(kind__in=KINDS), name="dream_kind"),
            models.CheckConstraint(condition=Q(thinker__in=THINKERS), name="dream_thinker"),
        ]
        indexes = [models.Index(fields=["account", "space", "-created_at", "-id"], name="dream_newest")]

    @property
    def is_open(self) -> bool:
        return self.status in OPEN

    def is_past(self, now: datetime) -> bool:
        """Nobody answered in time. Decided as it is read; a job only writes it down."""
        return self.status == "awaiting_result" and self.expires_at is not None and self.expires_at <= now

    def status_at(self, now: datetime) -> str:
        return "expired" if self.is_past(now) else self.status


class DreamChangeQuerySet(models.QuerySet["DreamChange"]):
    def about(self, ids: list[UUID]) -> "DreamChangeQuerySet":
        """Those that touch or cite one of these memories, or made one of them."""
        return self.filter(Q(memories__overlap=ids) | Q(made__in=ids))

    def undoable(self, now: datetime) -> "DreamChangeQuerySet":
        return self.filter(state="applied", run__status="applied", run__undo_until__gt=now)


class DreamChange(Tenant):
    """One change that a run proposes, and what became of it.

    `memories` are those it touches or, for an added memory, those it rests on; `made` is the memory that it made.
    `proposal` is what was asked for, `before` the images of what it changed (spaces.domain.dreams.images), and
    `after` how they were left: [{id, version, at}]. `code` and `note` say why it was skipped.
    """

    run = models.ForeignKey(
        DreamRun, models.CASCADE, db_constraint=False, db_index=False, related_name="changes"
    )
    number = models.PositiveSmallIntegerField()
    op = models.CharField(max_length=6, choices=words(OPS))
    memories = ArrayField(models.UUIDField(), default=list, blank=True)
    made = models.UUIDField(null=True, blank=True)
    proposal: Any = models.JSONField(default=dict, blank=True)
    before: Any = models.JSONField(default=list, blank=True)
    after: Any = models.JSONField(default=list, blank=True)
    state = models.CharField(max_length=8, choices=words(STATES))
    code = models.CharField(max_length=20, blank=True)
    note = models.CharField(max_length=300, blank=True)

    objects = DreamChangeQuerySet.as_manager()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["account", "run", "number"], name="dream_change"),
            models.CheckConstraint(condition=Q(op__in=OPS), name="dream_change_op"),
            models.CheckConstraint(condition=Q(state__in=STATES), name="dream_change_state"),
        ]
        indexes = [
            models.Index(
                fields=["account", "made"], condition=Q(made__isnull=False), name="dream_change_made"
            ),
            GinIndex(fields=["memories"], name="dream_change_memories"),
        ]
