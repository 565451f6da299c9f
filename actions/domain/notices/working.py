"""Working off what is to be sent. The rows are the truth; Celery only wakes."""

from collections.abc import Callable
from threading import BoundedSemaphore

from accounts.domain.jobs import Wait, kept, work_off
from accounts.models import Job
from actions.domain.notices.direct import message_to
from actions.domain.notices.failing import write_about
from actions.domain.notices.lane import DELIVER, MAIL, NOTICES, SLACK, WEBHOOK_OFF
from actions.domain.notices.letters import write_to
from actions.domain.notices.sending import deliver

_turns = BoundedSemaphore(2)
"""In a process: an endpoint that lets us wait holds up neither the other work nor all of this."""


def work_off_notices() -> int:
    """Deal with what is due. Answers how many jobs there were."""
    return work_off(NOTICES, lambda job: HANDLERS[job.kind](job))


def take_turn() -> None:
    if _turns.acquire(blocking=False):
        try:
            work_off_notices()
        finally:
            _turns.release()


def _deliver(job: Job) -> Wait:
    return deliver(job.account_id, job.object_id) if job.object_id else None


def _mail(job: Job) -> Wait:
    return write_to(job.account_id, job.object_id, job.tries) if job.object_id else None


def _slack(job: Job) -> Wait:
    """Several calls, each of which may take its time."""
    with kept(NOTICES, [job]):
        return message_to(job.account_id, job.object_id, job.tries) if job.object_id else None


def _webhook_off(job: Job) -> Wait:
    with kept(NOTICES, [job]):
        return write_about(job.account_id, job.object_id, job.tries) if job.object_id else None


HANDLERS: dict[str, Callable[[Job], Wait]] = {
    DELIVER: _deliver,
    MAIL: _mail,
    SLACK: _slack,
    WEBHOOK_OFF: _webhook_off,
}
