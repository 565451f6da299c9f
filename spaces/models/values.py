from datetime import datetime
from typing import Any, Self

from django.db import models
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.models import Case, Count, F, Func, Sum, TextField, When
from django.db.models.functions import Cast, Left, Length

from spaces.models.scoped import Scoped, ScopedQuerySet


class JsonField(models.JSONField):
    """Any JSON: None is JSON's null, never an empty column."""

    def get_db_prep_save(self, value: Any, connection: BaseDatabaseWrapper) -> Any:
        return self.get_db_prep_value(value, connection)


class _AsText(Func):
    """A JSON string's own text, and the JSON of anything else."""

    template = "(%(expressions)s #>> '{}')"
    output_field = TextField()


class ValueQuerySet(ScopedQuerySet["Value"]):
    def at(self, namespace: str, key: str) -> Self:
        return self.filter(namespace=namespace, key=key)

    def size(self) -> tuple[int, int]:
        """How many there are, and the characters of their keys and values together."""
        sums = self.aggregate(rows=Count("id"), chars=Sum(Length("key") + Length(Cast("value", TextField()))))
        return sums["rows"], sums["chars"] or 0

    def cut_to(self, chars: int) -> models.QuerySet["Value", tuple[str, Any, int, datetime, str | None]]:
        """(key, value, version, updated_at, start): a value longer than `chars` is None, and `start` its start."""
        measured = self.annotate(chars=Length(Cast("value", TextField())))
        return measured.values_list(
            "key",
            Case(When(chars__lte=chars, then=F("value"))),
            "version",
            "updated_at",
            Case(When(chars__gt=chars, then=Left(_AsText("value"), chars))),
        )


class Value(Scoped):
    """A key-value entry. The row's absence is the key's absence: null is a value like any other."""

    namespace = models.CharField(max_length=64)
    key = models.CharField(max_length=128)
    value: Any = JsonField()
    version = models.PositiveIntegerField(default=1)
    written_by = models.CharField(max_length=80)
    created_at = models.DateTimeField()
    updated_at = models.DateTimeField()

    objects = ValueQuerySet.as_manager()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["account", "space", "namespace", "key"], name="value_key")
        ]
