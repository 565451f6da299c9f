"""What the queue and Celery ask of this app. Thin: each is one domain call."""

from threading import Lock

from celery import shared_task

from accounts.domain.jobs import enqueue_everywhere, job
from accounts.models import Job
from spaces.domain.dreams.lane import LOOK
from spaces.domain.dreams.purging import purge
from spaces.domain.dreams.runs import LAPSE, PURGE, lapse
from spaces.domain.dreams.schedule import look
from spaces.domain.dreams.thinking import work_off as dream_on
from spaces.domain.embeddings.changing import discard_retired
from spaces.domain.embeddings.lane import DISCARD
from spaces.domain.embeddings.tending import Tending
from spaces.domain.memories.expiry import EXPIRE, clear_expired
from spaces.domain.renewing import INDEX, RENEW, index_some, renew_space
from spaces.domain.search.graphs import tend_graphs

_dreaming = Lock()
_tending = Tending()


@job(EXPIRE)
def expire_memory(due: Job) -> None:
    if due.object_id:
        clear_expired(due.account_id, due.object_id)


@job(DISCARD)
def discard_vectors(due: Job) -> None:
    discard_retired(due.account_id)


@job(RENEW)
def renew(due: Job) -> None:
    if due.object_id:
        renew_space(due.account_id, due.object_id)


@job(INDEX)
def index(due: Job) -> None:
    if due.object_id:
        index_some(due.account_id, due.object_id)


@job(LOOK)
def look_for_dreams(due: Job) -> None:
    look(due.account_id)


@job(LAPSE)
def lapse_dream(due: Job) -> None:
    if due.object_id:
        lapse(due.account_id, due.object_id)


@job(PURGE)
def purge_dream(due: Job) -> None:
    if due.object_id:
        purge(due.account_id, due.object_id)


@shared_task(name="spaces.tasks.embed_pending", ignore_result=True)  # type: ignore[untyped-decorator]
def embed_pending() -> None:
    """Look after the models and embed what waits. Woken after writes, and by beat every second."""
    _tending.look()


@shared_task(name="spaces.tasks.tend_graphs", ignore_result=True)  # type: ignore[untyped-decorator]
def tend_search_graphs() -> None:
    """Now and then: accounts grow large, models change."""
    tend_graphs()


@shared_task(name="spaces.tasks.look_for_dreams", ignore_result=True)  # type: ignore[untyped-decorator]
def look_for_dreams_everywhere() -> None:
    """Each space is asked in its own account whether it is time."""
    enqueue_everywhere(LOOK)


@shared_task(name="spaces.tasks.dream", ignore_result=True)  # type: ignore[untyped-decorator]
def dream() -> None:
    """Woken when a run begins, and by the sweep. One thread of a process is enough, the others have other work."""
    if _dreaming.acquire(blocking=False):
        try:
            dream_on()
        finally:
            _dreaming.release()
