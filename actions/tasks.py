"""The jobs of actions. Thin: the domain decides."""

from celery import shared_task

from accounts.domain.jobs import enqueue_everywhere, job
from accounts.models import Job
from actions.domain.execution import work_off
from actions.domain.notices.deliveries import purge_notices
from actions.domain.notices.lane import PURGE, TELL_PEOPLE
from actions.domain.notices.people import tell_people
from actions.domain.notices.working import take_turn
from actions.domain.proposals import EXPIRE
from actions.domain.snoozing import WAKE, wake_action
from actions.domain.sweeps import expire_action, flag_stale_action
from actions.domain.transitions import FLAG_STALE


@job(EXPIRE)
def expire(due: Job) -> None:
    if due.object_id:
        expire_action(due.account_id, due.object_id)


@job(FLAG_STALE)
def flag_stale(due: Job) -> None:
    if due.object_id:
        flag_stale_action(due.account_id, due.object_id)


@job(WAKE)
def wake(due: Job) -> None:
    if due.object_id:
        wake_action(due.account_id, due.object_id)


@shared_task(name="actions.tasks.carry_out", ignore_result=True)  # type: ignore[untyped-decorator]
def carry_out() -> None:
    """Work off what waits for vendors. Woken after commits, and by the sweep."""
    work_off()


@job(TELL_PEOPLE)
def tell(due: Job) -> None:
    if due.object_id:
        tell_people(due.account_id, due.object_id)


@job(PURGE)
def purge(due: Job) -> None:
    purge_notices(due.account_id)


@shared_task(name="actions.tasks.send_notices", ignore_result=True)  # type: ignore[untyped-decorator]
def send_notices() -> None:
    """Letters, and messages to webhooks and in Slack. Woken after commits, and by the sweep."""
    take_turn()


@shared_task(name="actions.tasks.tidy_notices", ignore_result=True)  # type: ignore[untyped-decorator]
def tidy_notices() -> None:
    """Each account drops what was sent long ago, in its own transaction."""
    enqueue_everywhere(PURGE)
