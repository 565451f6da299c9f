"""Working off what is to be sent. The rows are the truth; Celery only wakes."""

import logging
from collections.abc import Callable
from datetime import timedelta
from threading import BoundedSemaphore

from accounts.domain.jobs import claim, finish, postpone
from accounts.models import Job
from actions.domain.notices.lane import DELIVER, MAIL, NOTICES
from actions.domain.notices.letters import write_to
from actions.domain.notices.sending import deliver

log = logging.getLogger(__name__)

FAULTY = timedelta(seconds=30)
_turns = BoundedSemaphore(2)
"""In a process: an endpoint that lets us wait holds up neither the other work nor all of this."""

Wait = timedelta | None


def work_off_notices() -> int:
    """Deal with what is due, one after the other, until nothing is left. Answers how many jobs there were."""
    done = 0
    while jobs := claim(NOTICES, 1):
        _handle(jobs[0])
        done += 1
    return done


def take_turn() -> None:
    if _turns.acquire(blocking=False):
        try:
            work_off_notices()
        finally:
            _turns.release()


def _handle(job: Job) -> None:
    try:
        wait = HANDLERS[job.kind](job)
    except Exception as error:
        log.exception("job %s of kind %s failed", job.id, job.kind)
        postpone([job], type(error).__name__, FAULTY)
        return
    if wait is None:
        finish([job])
    else:
        postpone([job], "", wait)


def _deliver(job: Job) -> Wait:
    return deliver(job.account_id, job.object_id) if job.object_id else None


def _mail(job: Job) -> Wait:
    return write_to(job.account_id, job.object_id, job.tries) if job.object_id else None


HANDLERS: dict[str, Callable[[Job], Wait]] = {DELIVER: _deliver, MAIL: _mail}
