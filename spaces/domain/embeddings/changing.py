"""The change from one model to another: vectors of the new one are made beside the old, which serves meanwhile."""

import logging
from dataclasses import dataclass
from datetime import timedelta
from typing import Any
from uuid import UUID

from django.db import transaction
from django.db.models import Count, QuerySet
from django.utils import timezone

from accounts.domain.jobs import enqueue
from accounts.models import Account, Job
from memoryhub.common.tenancy import tenant
from spaces.domain.embeddings.adopting import lock_models, retire
from spaces.domain.embeddings.lane import COVER, DISCARD, EMBED, EMBEDDING
from spaces.models import EmbeddingFailure, EmbeddingModel, Memory, MemoryChunk

log = logging.getLogger(__name__)

OVERDUE = timedelta(seconds=5)
DISCARDED_AT_ONCE = 5000


@dataclass(frozen=True)
class Progress:
    """How many memories there are, how many have vectors of this model, and of how many it has refused the text."""

    model: EmbeddingModel
    memories: int
    embedded: int
    failed: int

    @property
    def done(self) -> int:
        return self.embedded + self.failed

    @property
    def share(self) -> float:
        return self.done / self.memories if self.memories else 1.0

    def as_line(self) -> str:
        parts = [f"{self.share:6.1%}", f"{self.embedded} of {self.memories} memories", self.model.name]
        parts += ["not in use yet"] if self.model.state == "building" else []
        parts += [f"{self.failed} refused"] if self.failed else []
        parts += [self.model.trouble_note] if self.model.trouble else []
        return "  ".join(parts)


def account_progress(account_id: UUID) -> list[Progress]:
    """Of the account in force, for the model that serves and, during a change, the one that is to."""
    return [progress_of(account_id, model) for model in EmbeddingModel.objects.wanted().order_by("state")]


def progress_of(account_id: UUID, model: EmbeddingModel) -> Progress:
    return Progress(
        model,
        Memory.objects.filter(account_id=account_id).count(),
        _counted(MemoryChunk.objects.filter(account_id=account_id, model_id=model.id)),
        _counted(EmbeddingFailure.objects.filter(account_id=account_id, model_id=model.id)),
    )


def coming_progress(account_id: UUID) -> Progress | None:
    """Of the account in force, for a model that does not serve it in full yet; None where there is none."""
    building = EmbeddingModel.objects.filter(state="building").first()
    return progress_of(account_id, building) if building else None


def accounts_left() -> int:
    """In how many accounts memories may still lack vectors of a wanted model."""
    covering = Job.objects.filter(lane=EMBEDDING.name, kind=COVER)
    return covering.values("account_id").distinct().count()


def _counted(rows: QuerySet[Any]) -> int:
    found: int = rows.aggregate(count=Count("memory_id", distinct=True))["count"]
    return found


def overall_progress() -> list[Progress]:
    """Of all accounts together, entered one after the other."""
    totals = {m.id: Progress(m, 0, 0, 0) for m in EmbeddingModel.objects.wanted().order_by("state")}
    for account_id in Account.objects.values_list("id", flat=True):
        with tenant(account_id):
            for part in account_progress(account_id):
                totals[part.model.id] = _sum(totals[part.model.id], part)
    return list(totals.values())


def _sum(total: Progress, part: Progress) -> Progress:
    return Progress(
        part.model,
        total.memories + part.memories,
        total.embedded + part.embedded,
        total.failed + part.failed,
    )


def finish_change() -> bool:
    """Serve by the new model once every account is covered by it. Whether that was now."""
    building = EmbeddingModel.objects.filter(state="building", trouble="").first()
    if building is None or work_left():
        return False
    with transaction.atomic():
        lock_models()
        if not EmbeddingModel.objects.filter(id=building.id, state="building").exists():
            return False
        another = retire(EmbeddingModel.objects.filter(state="active"))
        EmbeddingModel.objects.filter(id=building.id).update(state="active", activated_at=timezone.now())
    log.log(logging.WARNING if another else logging.INFO, "Searches use %s now", building)
    return True


def work_left() -> bool:
    """Whether a wanted model lacks vectors that it could have by now."""
    jobs = Job.objects.filter(lane=EMBEDDING.name)
    overdue = jobs.filter(kind=EMBED, tries=0, run_after__lt=timezone.now() - OVERDUE)
    return jobs.filter(kind=COVER).exists() or overdue.exists()


def discard_retired(account_id: UUID) -> None:
    """Vectors of retired models go from the account, some at a time."""
    retired = list(EmbeddingModel.objects.filter(state="retired").values_list("id", flat=True))
    EmbeddingFailure.objects.filter(account_id=account_id, model_id__in=retired).delete()
    chunks = MemoryChunk.objects.filter(account_id=account_id, model_id__in=retired)
    gone = list(chunks.values_list("id", flat=True)[:DISCARDED_AT_ONCE])
    MemoryChunk.objects.filter(account_id=account_id, id__in=gone).delete()
    if len(gone) == DISCARDED_AT_ONCE:
        enqueue(DISCARD, account_id)
