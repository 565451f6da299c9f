"""What the queue and Celery ask of this app. Thin: each is one domain call."""

from celery import shared_task

from accounts.domain.jobs import job
from accounts.models import Job
from spaces.domain.embeddings.changing import discard_retired
from spaces.domain.embeddings.lane import DISCARD
from spaces.domain.embeddings.tending import Tending
from spaces.domain.memories.expiry import EXPIRE, clear_expired
from spaces.domain.renewing import INDEX, RENEW, index_some, renew_space
from spaces.domain.search.graphs import tend_graphs

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


@shared_task(name="spaces.tasks.embed_pending", ignore_result=True)  # type: ignore[untyped-decorator]
def embed_pending() -> None:
    """Look after the models and embed what waits. Woken after writes, and by beat every second."""
    _tending.look()


@shared_task(name="spaces.tasks.tend_graphs", ignore_result=True)  # type: ignore[untyped-decorator]
def tend_search_graphs() -> None:
    """Now and then: accounts grow large, models change."""
    tend_graphs()
