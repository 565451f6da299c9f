from django.db import models

from accounts.models.tenant import Tenant


class EventQuerySet(models.QuerySet["Event"]):
    def sealed(self) -> "EventQuerySet":
        return self.filter(seq__isnull=False)


class Event(Tenant):
    """An append-only line saying that something happened, without the text it happened to.

    Written in the change's own transaction. `seq` and `hash` are given by a sealing job, in the order in
    which it finds the committed rows: a feed that has read up to n never misses an event.
    """

    seq = models.BigIntegerField(null=True)
    type = models.CharField(max_length=48)
    at = models.DateTimeField()
    actor = models.CharField(max_length=80)
    space_id = models.UUIDField(null=True)
    object_type = models.CharField(max_length=32)
    object_id = models.CharField(max_length=80)
    summary = models.CharField(max_length=200, blank=True)
    previous_hash = models.BinaryField(max_length=32, null=True)
    hash = models.BinaryField(max_length=32, null=True)

    objects = EventQuerySet.as_manager()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["account", "seq"], name="event_seq")]
        indexes = [
            models.Index(fields=["account", "id"], condition=models.Q(seq=None), name="events_unsealed"),
            models.Index(fields=["account", "object_id"], name="events_by_object"),
        ]
