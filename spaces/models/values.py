from typing import Any

from django.db import models

from spaces.models.scoped import Scoped, ScopedQuerySet


class ValueQuerySet(ScopedQuerySet["Value"]):
    pass


class Value(Scoped):
    """A key-value entry. A JSON null is stored as JSON null; the row's absence is the key's absence."""

    namespace = models.CharField(max_length=64)
    key = models.CharField(max_length=128)
    value: Any = models.JSONField()
    version = models.PositiveIntegerField(default=1)
    written_by = models.CharField(max_length=80)
    created_at = models.DateTimeField()
    updated_at = models.DateTimeField()

    objects = ValueQuerySet.as_manager()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["account", "space", "namespace", "key"], name="value_key")
        ]
