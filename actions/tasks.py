"""The jobs of actions. Thin: the domain decides."""

from accounts.domain.jobs import job
from accounts.models import Job
from actions.domain.proposals import EXPIRE
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
