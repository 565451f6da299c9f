from django.contrib.postgres.fields import ArrayField
from django.db import models

from spaces.models.scoped import Scoped, ScopedQuerySet, Version


class JournalQuerySet(ScopedQuerySet["JournalEntry"]):
    pass


class JournalEntry(Scoped):
    """A day's or a week's log. A week's date is its Monday."""

    kind = models.CharField(max_length=4, choices=[("day", "day"), ("week", "week")], default="day")
    date = models.DateField()
    summary = models.TextField(blank=True)
    decisions = ArrayField(models.CharField(max_length=1000), default=list, blank=True)
    open_loops = ArrayField(models.CharField(max_length=1000), default=list, blank=True)
    source_refs = ArrayField(models.CharField(max_length=1000), default=list, blank=True)
    version = models.PositiveIntegerField(default=1)
    written_by = models.CharField(max_length=80)
    created_at = models.DateTimeField()
    updated_at = models.DateTimeField()

    objects = JournalQuerySet.as_manager()

    class Meta:
        verbose_name_plural = "journal entries"
        constraints = [
            models.UniqueConstraint(fields=["account", "space", "kind", "date"], name="journal_one_a_date"),
            models.CheckConstraint(condition=models.Q(kind__in=["day", "week"]), name="journal_kind"),
        ]


class JournalVersion(Version):
    entry = models.ForeignKey(
        JournalEntry, models.CASCADE, db_constraint=False, db_index=False, related_name="versions"
    )

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["account", "entry", "version"], name="journal_version")
        ]
