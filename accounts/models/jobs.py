from django.db import models
from django.utils import timezone

from memoryhub.common.ids import new_id


class Job(models.Model):
    """Work to do, as a row: the queue itself. Celery only wakes workers. Ids and the account only, no text."""

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    lane = models.CharField(max_length=16, default="")
    kind = models.CharField(max_length=32)
    account = models.ForeignKey("accounts.Account", models.CASCADE, db_index=False, related_name="+")
    object_id = models.UUIDField(null=True)
    run_after = models.DateTimeField(default=timezone.now)
    tries = models.PositiveSmallIntegerField(default=0)
    leased_until = models.DateTimeField(null=True)
    last_error = models.CharField(max_length=200, blank=True)

    class Meta:
        indexes = [models.Index(fields=["lane", "run_after", "id"], name="jobs_due")]

    def __str__(self) -> str:
        return f"job {self.id}"
