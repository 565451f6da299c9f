from django.db import models
from django.db.models import Q

from accounts.models import Tenant

MOST_MEMORIES = 20


class AutoContext(Tenant):
    """How answers to one credential are accompanied by what is remembered, in one of its sessions.

    `session` is "" where the client names none.
    """

    credential = models.CharField(max_length=80)
    session = models.CharField(max_length=200, blank=True)
    enabled = models.BooleanField(default=False)
    max_memories = models.PositiveSmallIntegerField(default=5)
    min_relevance = models.FloatField(default=0.6)
    auto_trace = models.BooleanField(default=False)
    updated_at = models.DateTimeField()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["account", "credential", "session"], name="auto_context_session"),
            models.CheckConstraint(
                condition=Q(max_memories__gte=1, max_memories__lte=MOST_MEMORIES),
                name="auto_context_memories",
            ),
            models.CheckConstraint(
                condition=Q(min_relevance__gte=0, min_relevance__lte=1), name="auto_context_relevance"
            ),
        ]
