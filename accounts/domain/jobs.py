"""The queue. A job is a row; Celery only wakes a worker, and a periodic sweep finds what a broker lost."""

import logging
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from threading import Lock
from uuid import UUID

from celery import current_app
from django.db import models, transaction
from django.utils import timezone

from accounts.models import Account, Job
from memoryhub.common.tenancy import tenant

log = logging.getLogger(__name__)

RETRY_SECONDS = (1, 5, 30, 120, 600)
WAKE_EVERY = 0.2


@dataclass(frozen=True)
class Lane:
    """Jobs with workers' time of their own. `task` is the Celery task that looks for them.

    A claimed job is nobody else's for the time of the `lease`; after that its worker counts as gone.
    """

    name: str
    task: str
    lease: timedelta = timedelta(minutes=5)


MAIN = Lane("", task="accounts.tasks.run_jobs")
"""Jobs that each run inside their account's transaction. Other lanes are for what waits for something outside."""

Handler = Callable[[Job], None]
_handlers: dict[str, Handler] = {}
_wake_lock = Lock()
_last_wakes: dict[str, float] = {}


def job(kind: str) -> Callable[[Handler], Handler]:
    """Register what runs for jobs of this kind in the main lane, inside the account's tenant()."""

    def register(handler: Handler) -> Handler:
        _handlers[kind] = handler
        return handler

    return register


def enqueue(
    kind: str,
    account_id: UUID,
    object_id: UUID | None = None,
    *,
    run_after: datetime | None = None,
    lane: Lane = MAIN,
) -> None:
    """Add a job in the current transaction; a worker is woken once it is committed."""
    enqueue_each(kind, account_id, [object_id], run_after=run_after, lane=lane)


def enqueue_each(
    kind: str,
    account_id: UUID,
    object_ids: Iterable[UUID | None],
    *,
    run_after: datetime | None = None,
    lane: Lane = MAIN,
) -> None:
    """A job for each object, in one statement."""
    _add([(account_id, id) for id in object_ids], kind, run_after, lane)


def enqueue_everywhere(kind: str, *, lane: Lane = MAIN) -> None:
    """A job for each account."""
    _add([(id, None) for id in Account.objects.values_list("id", flat=True)], kind, None, lane)


def _add(
    objects: Sequence[tuple[UUID, UUID | None]], kind: str, run_after: datetime | None, lane: Lane
) -> None:
    due = run_after or timezone.now()
    jobs = [Job(lane=lane.name, kind=kind, account_id=a, object_id=o, run_after=due) for a, o in objects]
    Job.objects.bulk_create(jobs, batch_size=1000)
    if run_after is None:
        transaction.on_commit(lambda: wake(lane), robust=True)


def wake(lane: Lane = MAIN) -> None:
    """Tell a worker that something is due, at most a few times a second from one process."""
    with _wake_lock:
        now = time.monotonic()
        if now - _last_wakes.get(lane.name, 0.0) < WAKE_EVERY:
            return
        _last_wakes[lane.name] = now
    current_app.send_task(lane.task, ignore_result=True)


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
    with transaction.atomic():
        due = _due(MAIN)
        first = due.select_for_update(skip_locked=True).first()
        if first is None:
            return []
        same = due.filter(kind=first.kind, account_id=first.account_id, object_id=first.object_id)
        return _leased(MAIN, list(same.select_for_update(skip_locked=True)))


def claim(lane: Lane, limit: int, *, newest: int = 0) -> list[Job]:
    """Lease the oldest due jobs of a lane, and of the rest some of the newest: a long queue holds up neither.

    Each must be told the outcome: `finish`, `postpone`, `move_on` or `release`.
    """
    with transaction.atomic():
        oldest = _leased(lane, list(_due(lane).select_for_update(skip_locked=True)[:limit]))
        if not newest or len(oldest) < limit:
            return oldest
        latest = _due(lane).order_by("-run_after", "-id").select_for_update(skip_locked=True)
        return oldest + _leased(lane, list(latest[:newest]))


def finish(jobs: Sequence[Job]) -> None:
    """In the transaction of what they did: it is done, and they are gone, or neither."""
    _these(jobs).delete()


def postpone(jobs: Sequence[Job], error: str, wait: timedelta) -> None:
    """They failed; try them again later."""
    _these(jobs).update(leased_until=None, run_after=timezone.now() + wait, last_error=error)


def release(jobs: Sequence[Job]) -> None:
    """They were not tried after all: due at once, for anybody."""
    _these(jobs).update(leased_until=None, tries=models.F("tries") - 1)


def move_on(job: Job, object_id: UUID) -> None:
    """Its part is done; what is left of it begins after that object, and has its turn after what is due."""
    _these([job]).update(object_id=object_id, leased_until=None, run_after=timezone.now(), tries=0)


def extend(lane: Lane, jobs: Sequence[Job]) -> None:
    """The lease begins anew: their worker is alive and not through yet."""
    _these(jobs).update(leased_until=timezone.now() + lane.lease)


def _due(lane: Lane) -> models.QuerySet[Job]:
    now = timezone.now()
    due = Job.objects.filter(lane=lane.name, run_after__lte=now).exclude(leased_until__gt=now)
    return due.order_by("run_after", "id")


def _leased(lane: Lane, claimed: list[Job]) -> list[Job]:
    until = timezone.now() + lane.lease
    _these(claimed).update(leased_until=until, tries=models.F("tries") + 1)
    return claimed


def _these(jobs: Sequence[Job]) -> models.QuerySet[Job]:
    return Job.objects.filter(id__in=[job.id for job in jobs])


def _run(claimed: list[Job]) -> None:
    first = claimed[0]
    try:
        with tenant(first.account_id):
            _handlers[first.kind](first)
            finish(claimed)
    except Exception as error:
        log.exception("job %s of kind %s failed", first.id, first.kind)
        seconds = RETRY_SECONDS[min(first.tries, len(RETRY_SECONDS) - 1)]
        postpone(claimed, type(error).__name__, timedelta(seconds=seconds))
