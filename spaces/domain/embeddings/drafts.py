"""What there is to embed, read in short transactions that end before any of it is embedded."""

from collections import defaultdict
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from itertools import accumulate
from uuid import UUID

from django.db.models import Exists, OuterRef, Q

from memoryhub.common.tenancy import tenant
from spaces.domain.embeddings.documents import Document, document, readable
from spaces.embedding.base import EmbeddingError, Vector
from spaces.models import EmbeddingFailure, EmbeddingModel, Memory, MemoryChunk

PAGE = 64
"""Memories of an account that are looked at together when a model is new to it."""
PAGE_TEXTS = 64

Outcome = list[Vector] | EmbeddingError


@dataclass
class Draft:
    """A memory as it was read, and what comes of embedding it, by the id of the model.

    There is no outcome where the model is in trouble, or the turn did not come.
    """

    account_id: UUID
    memory_id: UUID
    document: Document
    missing: list[EmbeddingModel]
    outcomes: dict[int, Outcome] = field(default_factory=dict)

    @property
    def size(self) -> int:
        """In texts."""
        return len(self.document.chunks) if self.missing else 0

    @property
    def complete(self) -> bool:
        return all(model.id in self.outcomes for model in self.missing)

    @property
    def failure(self) -> EmbeddingError | None:
        found = (outcome for outcome in self.outcomes.values() if isinstance(outcome, EmbeddingError))
        return next(found, None)


def read_named(account_id: UUID, ids: Collection[UUID], models: Sequence[EmbeddingModel]) -> list[Draft]:
    """Those of the account's memories that there still are."""
    with tenant(account_id):
        return _drafts(account_id, ids, models)


def read_page(account_id: UUID, after: UUID | None, models: Sequence[EmbeddingModel]) -> list[Draft]:
    """The next memories, by id, that lack vectors of a model and have not failed with it."""
    with tenant(account_id):
        page = _drafts(account_id, _lacking(account_id, after, models), models)
    sizes = accumulate(draft.size for draft in page)
    return [draft for draft, size in zip(page, sizes, strict=True) if size <= PAGE_TEXTS] or page[:1]


def _lacking(account_id: UUID, after: UUID | None, models: Sequence[EmbeddingModel]) -> list[UUID]:
    lacking = Q()
    for model in models:
        of_it = {"account_id": account_id, "memory_id": OuterRef("id"), "model_id": model.id}
        has = Exists(MemoryChunk.objects.filter(**of_it)) | Exists(EmbeddingFailure.objects.filter(**of_it))
        lacking |= ~Q(has)
    memories = Memory.objects.filter(lacking, account_id=account_id).order_by("id")
    if after:
        memories = memories.filter(id__gt=after)
    return list(memories.values_list("id", flat=True)[:PAGE])


def _drafts(account_id: UUID, ids: Collection[UUID], models: Sequence[EmbeddingModel]) -> list[Draft]:
    memories = readable(Memory.objects.filter(account_id=account_id, id__in=ids)).order_by("id")
    done = _hashes(account_id, ids)
    drafts = []
    for memory in memories:
        draft = Draft(account_id, memory.id, document(memory), [])
        draft.missing = [m for m in models if (m.id, draft.document.hash) not in done[memory.id]]
        drafts.append(draft)
    return drafts


def _hashes(account_id: UUID, ids: Collection[UUID]) -> dict[UUID, set[tuple[int, bytes]]]:
    """Memory → of which models it has vectors, and of which text."""
    chunks = MemoryChunk.objects.filter(account_id=account_id, memory_id__in=ids, number=0)
    found: dict[UUID, set[tuple[int, bytes]]] = defaultdict(set)
    for memory_id, model_id, hash in chunks.values_list("memory_id", "model_id", "text_hash"):
        found[memory_id].add((model_id, bytes(hash)))
    return found
