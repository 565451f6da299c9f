"""What the queue asks of this app. Thin: each job is one domain call."""

from accounts.domain.jobs import job
from accounts.models import Job
from spaces.domain.memories.expiry import EXPIRE, clear_expired


@job(EXPIRE)
def expire_memory(due: Job) -> None:
    if due.object_id:
        clear_expired(due.account_id, due.object_id)
