"""The queue. A job is a row; Celery only wakes a worker, and a periodic sweep finds what a broker lost."""

import logging
import threading
import time
from collections.abc import Callable
from datetime import datetime, timedelta
from uuid import UUID

from celery import current_app
from django.db import models, transaction
from django.utils import timezone

from accounts.models import Job
from memoryhub.common.tenancy import tenant

log = logging.getLogger(__name__)

LEASE = timedelta(minutes=5)
RETRY_SECONDS = (1, 5, 30, 120, 600)
WAKE_TASK = "accounts.tasks.run_jobs"
WAKE_EVERY = 0.2

Handler = Callable[[Job], None]
_handlers: dict[str, Handler] = {}
_wake_lock = threading.Lock()
_last_wake = 0.0


def job(kind: str) -> Callable[[Handler], Handler]:
    """Register what runs for jobs of this kind, inside the account's tenant()."""

    def register(handler: Handler) -> Handler:
        _handlers[kind] = handler
        return handler

    return register


def enqueue(
    kind: str, account_id: UUID, object_id: UUID | None = None, *, run_after: datetime | None = None
) -> None:
    """Add a job in the current transaction; a worker is woken once it is committed."""
    Job.objects.create(
        kind=kind, account_id=account_id, object_id=object_id, run_after=run_after or timezone.now()
    )
    if run_after is None:
        transaction.on_commit(wake, robust=True)


def wake() -> None:
    """Tell a worker that something is due, at most a few times a second from one process."""
    global _last_wake
    with _wake_lock:
        now = time.monotonic()
        if now - _last_wake < WAKE_EVERY:
            return
        _last_wake = now
    current_app.send_task(WAKE_TASK, ignore_result=True)


def run_due_jobs(limit: int = 200) -> int:
    """Claim what is due and run it, job by job, until nothing is left or the limit is reached."""
    done = 0
    while done < limit:
        claimed = _claim()
        if not claimed:
            break
        _run(claimed)
        done += len(claimed)
    return done


def _claim() -> list[Job]:
    """Lease the oldest due job and every other due job of the same kind and object: one run serves them all."""
    now = timezone.now()
    with transaction.atomic():
        due = Job.objects.filter(run_after__lte=now).exclude(leased_until__gt=now).order_by("run_after", "id")
        first = due.select_for_update(skip_locked=True).first()
        if first is None:
            return []
        same = due.filter(kind=first.kind, account_id=first.account_id, object_id=first.object_id)
        claimed = list(same.select_for_update(skip_locked=True))
        Job.objects.filter(id__in=[j.id for j in claimed]).update(
            leased_until=now + LEASE, tries=models.F("tries") + 1
        )
    return claimed


def _run(claimed: list[Job]) -> None:
    first = claimed[0]
    try:
        with tenant(first.account_id):
            _handlers[first.kind](first)
            Job.objects.filter(id__in=[j.id for j in claimed]).delete()
    except Exception as error:
        log.exception("job %s of kind %s failed", first.id, first.kind)
        _postpone(claimed, type(error).__name__)


def _postpone(claimed: list[Job], error: str) -> None:
    wait = RETRY_SECONDS[min(claimed[0].tries, len(RETRY_SECONDS) - 1)]
    Job.objects.filter(id__in=[j.id for j in claimed]).update(
        leased_until=None, run_after=timezone.now() + timedelta(seconds=wait), last_error=error
    )
