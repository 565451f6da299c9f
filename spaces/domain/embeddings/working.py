"""Working off what waits for vectors: claim, read, ask, keep. Each step is short, and only asking takes time."""

from collections import defaultdict
from collections.abc import Sequence
from datetime import timedelta
from itertools import accumulate, chain
from uuid import UUID

from django.utils import timezone

from accounts.domain.jobs import claim, enqueue_each, finish, kept, move_on, postpone, release
from accounts.models import Job
from memoryhub.common.tenancy import tenant
from spaces.domain.embeddings.drafts import Draft, read_named, read_page
from spaces.domain.embeddings.lane import COVER, EMBED, EMBEDDING
from spaces.domain.embeddings.storing import store
from spaces.domain.embeddings.thinking import think
from spaces.models import EmbeddingModel

JOBS = 24
NEWEST = 8
MOST_TEXTS = 128
"""Of one batch, so that what was just written does not wait long behind long texts."""
CHANGED = timedelta(seconds=0.2)
TROUBLE = timedelta(seconds=60)
RETRIES = tuple(timedelta(seconds=s) for s in (5, 30, 300, 3600, 6 * 3600))


def embed_batch() -> int:
    """Deals with jobs that have waited longest and with some of the latest, so that what was just written is found
    soon however much was imported before. Answers how many; none while no model can be asked."""
    models = list(EmbeddingModel.objects.wanted().order_by("id"))
    if all(model.trouble for model in models):
        return 0
    jobs = claim(EMBEDDING, JOBS, newest=NEWEST)
    if jobs:
        with kept(EMBEDDING, jobs):
            _embed_named([job for job in jobs if job.kind == EMBED], models)
            for job in jobs:
                if job.kind == COVER:
                    _cover(job, models)
    return len(jobs)


def _embed_named(jobs: Sequence[Job], models: Sequence[EmbeddingModel]) -> None:
    """The memories that the jobs name, of whatever accounts, in as few requests as possible."""
    by_account = _grouped(jobs)
    read = {a: read_named(a, list(found), models) for a, found in by_account.items()}
    taken, left = _first_texts(list(chain.from_iterable(read.values())))
    for draft in left:
        release(by_account[draft.account_id].pop(draft.memory_id))
    _think(taken, models)
    for account_id, own in by_account.items():
        drafts = {draft.memory_id: draft for draft in taken if draft.account_id == account_id}
        _settle(account_id, own, drafts, models)


def _grouped(jobs: Sequence[Job]) -> dict[UUID, dict[UUID, list[Job]]]:
    """Account → memory → its jobs: of one memory that was written several times there are several."""
    grouped: dict[UUID, dict[UUID, list[Job]]] = defaultdict(lambda: defaultdict(list))
    for job in jobs:
        if job.object_id:
            grouped[job.account_id][job.object_id].append(job)
    return grouped


def _first_texts(drafts: Sequence[Draft]) -> tuple[Sequence[Draft], Sequence[Draft]]:
    """What is taken on now, and what is left for another time."""
    sizes = accumulate((draft.size for draft in drafts), initial=0)
    count = sum(size < MOST_TEXTS for size in sizes)
    return drafts[:count], drafts[count:]


def _think(drafts: Sequence[Draft], models: Sequence[EmbeddingModel]) -> None:
    for model in models:
        if not model.trouble:
            think(drafts, model)


def _settle(
    account_id: UUID, jobs: dict[UUID, list[Job]], drafts: dict[UUID, Draft], models: Sequence[EmbeddingModel]
) -> None:
    """What came of it is kept and its jobs are gone, in one transaction."""
    done: list[Job] = []
    with tenant(account_id):
        changed = store([draft for draft in drafts.values() if draft.outcomes])
        for memory_id, own in jobs.items():
            draft = drafts.get(memory_id)
            if draft and memory_id in changed:
                postpone(own, "changed meanwhile", CHANGED)
            elif draft and draft.failure:
                postpone(own, draft.failure.message, RETRIES[min(own[0].tries, len(RETRIES) - 1)])
            elif draft and not draft.complete:
                _await_model(own, models)
            else:
                done += own
        finish(done)


def _await_model(jobs: Sequence[Job], models: Sequence[EmbeddingModel]) -> None:
    """Nothing is claimed while all models are in trouble; while one is well, these would come up all the time."""
    if all(model.trouble for model in models):
        release(jobs)
    else:
        postpone(jobs, "waits for a model", TROUBLE)


def _cover(job: Job, models: Sequence[EmbeddingModel]) -> None:
    """A page of the memories that lack vectors; the job then stands for those after them."""
    drafts = read_page(job.account_id, job.object_id, models)
    _think(drafts, models)
    with tenant(job.account_id):
        store([draft for draft in drafts if draft.outcomes])
        _retry_failures(job.account_id, drafts)
        if not drafts:
            finish([job])
        elif all(draft.complete for draft in drafts):
            move_on(job, drafts[-1].memory_id)
        else:
            _await_model([job], models)


def _retry_failures(account_id: UUID, drafts: Sequence[Draft]) -> None:
    failed = [draft.memory_id for draft in drafts if draft.failure]
    if failed:
        again = timezone.now() + RETRIES[0]
        enqueue_each(EMBED, account_id, failed, run_after=again, lane=EMBEDDING)
