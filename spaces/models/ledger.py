from django.db import models
from django.db.models import Q

from spaces.models.scoped import Scoped, ScopedQuerySet

TYPES = ("expense", "income", "refund", "transfer")


class TransactionQuerySet(ScopedQuerySet["Transaction"]):
    def standing(self) -> "TransactionQuerySet":
        return self.filter(voided_at=None)


class Transaction(Scoped):
    """Money that moved. It is never changed: what was wrong is voided and recorded anew."""

    type = models.CharField(max_length=8, choices=[(name, name) for name in TYPES])
    item = models.CharField(max_length=500)
    amount = models.DecimalField(max_digits=18, decimal_places=4)
    currency = models.CharField(max_length=3)
    date = models.DateField()
    category = models.CharField(max_length=120, blank=True)
    merchant = models.CharField(max_length=200, blank=True)
    payment_method = models.CharField(max_length=120, blank=True)
    note = models.TextField(blank=True)
    path = models.CharField(max_length=255, blank=True)
    agent = models.CharField(max_length=200, blank=True)
    written_by = models.CharField(max_length=80)
    created_at = models.DateTimeField()
    voided_at = models.DateTimeField(null=True, blank=True)
    voided_by = models.CharField(max_length=80, blank=True)

    objects = TransactionQuerySet.as_manager()

    class Meta:
        constraints = [
            models.CheckConstraint(condition=Q(type__in=TYPES), name="transaction_type"),
            models.CheckConstraint(condition=Q(amount__gt=0), name="transaction_amount"),
            models.CheckConstraint(condition=Q(currency__regex="^[A-Z]{3}$"), name="transaction_currency"),
        ]
        indexes = [
            models.Index(
                fields=["account", "space", "-date", "-created_at", "-id"], name="transaction_newest"
            )
        ]


class ReminderQuerySet(ScopedQuerySet["Reminder"]):
    def open(self) -> "ReminderQuerySet":
        return self.filter(completed_at=None)


class Reminder(Scoped):
    """Something to be done by a time. `due_on` and `due_at` as in records; with a `recurrence` (RRULE), completing
    it moves it on to its next time, counted from `starts_at`: the wall clock of the first one, kept as UTC."""

    content = models.CharField(max_length=2000)
    due_at = models.DateTimeField()
    due_on = models.DateField(null=True, blank=True)
    recurrence = models.CharField(max_length=200, blank=True)
    starts_at = models.DateTimeField()
    completed_at = models.DateTimeField(null=True, blank=True)
    completions = models.PositiveIntegerField(default=0)
    last_completed_at = models.DateTimeField(null=True, blank=True)
    path = models.CharField(max_length=255, blank=True)
    agent = models.CharField(max_length=200, blank=True)
    version = models.PositiveIntegerField(default=1)
    written_by = models.CharField(max_length=80)
    created_at = models.DateTimeField()
    updated_at = models.DateTimeField()

    objects = ReminderQuerySet.as_manager()

    class Meta:
        indexes = [
            models.Index(
                fields=["account", "space", "due_at", "id"],
                condition=Q(completed_at=None),
                name="reminder_due",
            ),
            models.Index(fields=["account", "space", "-created_at", "-id"], name="reminder_newest"),
        ]
