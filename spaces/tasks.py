"""What the queue and Celery ask of this app. Thin: each is one domain call."""

from threading import Lock

from celery import shared_task

from accounts.domain.jobs import job
from accounts.models import Job
from spaces.domain.embeddings.changing import discard_retired
from spaces.domain.embeddings.lane import DISCARD, RENEW
from spaces.domain.embeddings.pending import renew_space
from spaces.domain.embeddings.tending import Tending, work_off
from spaces.domain.memories.expiry import EXPIRE, clear_expired
from spaces.domain.search.graphs import tend_graphs

_turn = Lock()
_tending = Tending()


@job(EXPIRE)
def expire_memory(due: Job) -> None:
    if due.object_id:
        clear_expired(due.account_id, due.object_id)


@job(DISCARD)
def discard_vectors(due: Job) -> None:
    discard_retired(due.account_id)


@job(RENEW)
def renew_vectors(due: Job) -> None:
    if due.object_id:
        renew_space(due.account_id, due.object_id)


@shared_task(name="spaces.tasks.embed_pending", ignore_result=True)  # type: ignore[untyped-decorator]
def embed_pending() -> None:
    """Look after the models and embed what waits. Woken after writes, and by beat every second.

    One thread of a process is enough: it waits for the embedder, and whoever comes meanwhile finds it at work.
    """
    if _turn.acquire(blocking=False):
        try:
            _tending.tend()
            work_off()
        finally:
            _turn.release()


@shared_task(name="spaces.tasks.tend_graphs", ignore_result=True)  # type: ignore[untyped-decorator]
def tend_search_graphs() -> None:
    """Now and then: accounts grow large, models change."""
    tend_graphs()
