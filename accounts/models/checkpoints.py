from django.db import models

from accounts.models.tenant import Tenant


class Checkpoint(Tenant):
    """What a look through the whole chain of events found, signed where it was whole.

    It is written once, and a line of it outside the database. `broken_at` is the first number that didn't fit.
    """

    at = models.DateTimeField()
    seq = models.BigIntegerField()
    hash = models.BinaryField(max_length=32)
    key_id = models.CharField(max_length=16, blank=True)
    signature = models.BinaryField(max_length=64, null=True)
    broken_at = models.BigIntegerField(null=True)
    fault = models.CharField(max_length=200, blank=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["account", "at"], name="checkpoint_at")]
