from collections.abc import Collection
from typing import Any, Self

from django.db import models
from django.db.models import Q

from spaces.models.scoped import Scoped, ScopedQuerySet, Version
from spaces.models.spaces import Space

CLOSED = ("done", "closed", "completed", "cancelled", "archived")


class RecordQuerySet(ScopedQuerySet["Record"]):
    def open_in(self, space: Space) -> Self:
        """Not closed: by the space's own statuses where it sets some for a collection, else by CLOSED."""
        return self.inside(space).filter(open_filter(space))

    def in_collections(self, collections: Collection[str] | None) -> Self:
        return self if collections is None else self.filter(collection__in=collections)


def open_filter(space: Space) -> Q:
    own: dict[str, list[str]] = space.closed_statuses
    closed = Q(status__in=CLOSED) & ~Q(collection__in=list(own))
    for collection, statuses in own.items():
        closed |= Q(collection=collection, status__in=statuses)
    return ~closed


class Record(Scoped):
    """A row of a named collection.

    What is due on a calendar day has that day in `due_on`; `due_at` is then derived: the last moment of the
    day in the space's time zone, computed anew when the zone changes. Otherwise `due_at` is what was given.
    """

    collection = models.CharField(max_length=64)
    key = models.CharField(max_length=200, blank=True)
    status = models.CharField(max_length=64, default="open")
    due_at = models.DateTimeField(null=True, blank=True)
    due_on = models.DateField(null=True, blank=True)
    data: Any = models.JSONField(default=dict, blank=True)
    origin = models.CharField(max_length=5, default="agent", choices=[("agent", "agent"), ("user", "user")])
    version = models.PositiveIntegerField(default=1)
    written_by = models.CharField(max_length=80)
    created_at = models.DateTimeField()
    updated_at = models.DateTimeField()

    objects = RecordQuerySet.as_manager()

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["account", "space", "collection", "key"], condition=~Q(key=""), name="record_key"
            ),
            models.CheckConstraint(
                condition=Q(due_on=None) | ~Q(due_at=None), name="record_due_day_has_moment"
            ),
        ]
        indexes = [
            models.Index(
                fields=["account", "space", "collection", "due_at", "-created_at", "-id"],
                name="record_due_first",
            ),
            models.Index(fields=["account", "space", "-created_at", "-id"], name="record_newest"),
            models.Index(fields=["account", "space", "due_at"], condition=~Q(due_at=None), name="record_due"),
        ]


class RecordVersion(Version):
    record = models.ForeignKey(
        Record, models.CASCADE, db_constraint=False, db_index=False, related_name="versions"
    )

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["account", "record", "version"], name="record_version")
        ]
