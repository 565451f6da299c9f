"""Celery's entry points: thin, since the queue itself is in the database."""

from celery import shared_task

from accounts.domain.events import SEAL, seal_events
from accounts.domain.jobs import job, run_due_jobs
from accounts.models import Job


@shared_task(name="accounts.tasks.run_jobs", ignore_result=True)
def run_jobs() -> None:
    """Run whatever is due. Woken after commits, and by beat every second as the sweep."""
    run_due_jobs()


@job(SEAL)
def seal(due: Job) -> None:
    seal_events(due.account_id)
