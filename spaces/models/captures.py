from django.db import models
from django.db.models import Q

from spaces.models.memories import ORIGINS, Memory
from spaces.models.scoped import Scoped, ScopedQuerySet

STATES = ("waiting", "kept", "dropped")
TEXT_LENGTH = 500


class CaptureQuerySet(ScopedQuerySet["Capture"]):
    def waiting(self) -> "CaptureQuerySet":
        return self.filter(state="waiting")


class Capture(Scoped):
    """Something that was said and may be worth keeping. Its `text` is here only while it waits for a person: then it
    is a memory's, or nowhere. `fold_hash` is that of the text as identical statements share it, so that nobody is
    asked about the same twice."""

    state = models.CharField(max_length=7, choices=[(name, name) for name in STATES], default="waiting")
    text = models.CharField(max_length=TEXT_LENGTH, blank=True)
    origin = models.CharField(max_length=5, choices=[(name, name) for name in ORIGINS])
    agent = models.CharField(max_length=200, blank=True)
    session = models.CharField(max_length=200, blank=True)
    trigger = models.CharField(max_length=60, blank=True)
    memory = models.ForeignKey(
        Memory, models.SET_NULL, null=True, blank=True, db_constraint=False, db_index=False, related_name="+"
    )
    fold_hash = models.BinaryField(max_length=32, editable=False)
    written_by = models.CharField(max_length=80)
    created_at = models.DateTimeField()
    decided_by = models.CharField(max_length=80, blank=True)
    decided_at = models.DateTimeField(null=True, blank=True)

    objects = CaptureQuerySet.as_manager()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["account", "space", "fold_hash"], name="capture_once"),
            models.CheckConstraint(condition=Q(state__in=STATES), name="capture_state"),
            models.CheckConstraint(condition=Q(state="waiting") | Q(text=""), name="capture_text_waits"),
        ]
        indexes = [
            models.Index(
                fields=["account", "space", "-created_at", "-id"],
                condition=Q(state="waiting"),
                name="capture_waiting",
            ),
            models.Index(fields=["account", "space", "session", "created_at"], name="capture_session"),
            models.Index(fields=["account", "memory"], name="capture_memory"),
        ]
