from typing import Any, Self, TypeVar

from django.db import models
from django.db.models import Q

from accounts.actor import Actor
from accounts.models import Tenant
from spaces.models.spaces import Space

M = TypeVar("M", bound=models.Model)


class ScopedQuerySet(models.QuerySet[M]):
    """Rows that belong to a space, or (where `space` may be null) to the account as a whole."""

    def visible_to(self, actor: Actor) -> Self:
        spaces = Space.objects.visible_to(actor).values("id")
        return self.filter(Q(space_id__in=spaces) | Q(space_id=None), account_id=actor.account_id)

    def inside(self, space: Space) -> Self:
        return self.filter(account_id=space.account_id, space_id=space.id)


class Scoped(Tenant):
    """A tenant row inside a space."""

    space = models.ForeignKey(Space, models.CASCADE, db_constraint=False, db_index=False, related_name="+")

    class Meta:
        abstract = True


class Version(Tenant):
    """An earlier state of a row: the fields people or agents gave, as they were. Kept until it is forgotten."""

    version = models.PositiveIntegerField()
    data: Any = models.JSONField()
    written_by = models.CharField(max_length=80)
    written_at = models.DateTimeField()

    class Meta:
        abstract = True
