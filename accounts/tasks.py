"""Celery's entry points: thin, since the queue itself is in the database."""

import time

from celery import shared_task
from django.core.cache import cache

from accounts.domain import clients
from accounts.domain.checkpoints import CHECK, CHECK_NOW, check_chain, check_when_due
from accounts.domain.events import SEAL, seal_events
from accounts.domain.jobs import enqueue_everywhere, job, run_due_jobs, wake_lanes
from accounts.models import Job

WORKER_SEEN = "worker.seen"
WORKER_SILENT_AFTER = 15.0
NOTE_EVERY = 3.0

_noted = 0.0


@shared_task(name="accounts.tasks.run_jobs", ignore_result=True)  # type: ignore[untyped-decorator]
def run_jobs() -> None:
    """Run whatever is due in the main lane. Woken after commits."""
    run_due_jobs()


@shared_task(name="accounts.tasks.sweep", ignore_result=True)  # type: ignore[untyped-decorator]
def sweep() -> None:
    """By beat every second: look whether anything is due, in one statement."""
    note_worker()
    wake_lanes()


@shared_task(name="accounts.tasks.tend_clients", ignore_result=True)  # type: ignore[untyped-decorator]
def tend_clients() -> None:
    """Drop clients that nobody uses, and tokens that are past."""
    clients.tend_clients()


def note_worker() -> None:
    """Leave a sign of life for readiness checks."""
    global _noted
    if time.monotonic() - _noted >= NOTE_EVERY:
        cache.set(WORKER_SEEN, time.time(), timeout=None)
        _noted = time.monotonic()


@job(SEAL)
def seal(due: Job) -> None:
    seal_events(due.account_id)


@job(CHECK)
def check(due: Job) -> None:
    check_when_due(due.account_id)


@job(CHECK_NOW)
def check_now(due: Job) -> None:
    check_chain(due.account_id)


@shared_task(name="accounts.tasks.check_chains", ignore_result=True)  # type: ignore[untyped-decorator]
def check_chains() -> None:
    """Each account is asked in its own transaction whether it is time to look through its events."""
    enqueue_everywhere(CHECK)
