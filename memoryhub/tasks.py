"""What the queue and Celery ask of flows. Thin: each is one call."""

from threading import Lock

from celery import shared_task

from accounts.domain.jobs import job
from accounts.models import Job
from memoryhub.flows.transfers import END, end_transfer, run_transfers

_turn = Lock()


@shared_task(name="memoryhub.tasks.run_transfers", ignore_result=True)  # type: ignore[untyped-decorator]
def carry_out_transfers() -> None:
    """Exports and imports, one at a time in a process: each may take minutes."""
    if _turn.acquire(blocking=False):
        try:
            run_transfers()
        finally:
            _turn.release()


@job(END)
def end(due: Job) -> None:
    if due.object_id:
        end_transfer(due.account_id, due.object_id)
