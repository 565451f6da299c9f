"""Memories that wait for their vectors: what a write leaves to be done, and how far it has come."""

from collections.abc import Sequence
from typing import Any, Literal
from uuid import UUID

from django.db.models import QuerySet

from accounts.domain.jobs import enqueue_each
from spaces.domain.embeddings.configured import configured
from spaces.domain.embeddings.documents import document
from spaces.domain.embeddings.lane import EMBED, EMBEDDING
from spaces.models import EmbeddingFailure, EmbeddingModel, Memory, MemoryChunk

State = Literal["off", "pending", "embedded", "failed"]


def embed_later(memories: Sequence[Memory]) -> None:
    """To be called in the transaction that writes these memories of one account, after the write.

    Vectors of what they said before go with it; those of what they say now come within a moment. Where nothing
    changed that is embedded, the vectors stay. Their spaces must be at hand.
    """
    for memory in memories:
        if memory.version > 1:
            drop_outdated(memory)
    if memories and configured():
        enqueue_each(EMBED, memories[0].account_id, [memory.id for memory in memories], lane=EMBEDDING)


def drop_outdated(memory: Memory) -> None:
    """Vectors of another text than it has now."""
    of_it = {"account_id": memory.account_id, "memory_id": memory.id}
    MemoryChunk.objects.filter(**of_it).exclude(text_hash=document(memory).hash).delete()
    EmbeddingFailure.objects.filter(**of_it).delete()


def embedding_state(memory: Memory) -> State:
    return embedding_states([memory])[memory.id]


def embedding_states(memories: Sequence[Memory]) -> dict[UUID, State]:
    """How far each memory of the account in force has come with the model that searches use."""
    ids = [memory.id for memory in memories]
    model = EmbeddingModel.objects.serving()
    if model is None:
        return dict.fromkeys(ids, "pending" if configured() else "off")
    failed = _having(EmbeddingFailure.objects.all(), ids, model)
    embedded = _having(MemoryChunk.objects.all(), ids, model)
    return {id: "embedded" if id in embedded else "failed" if id in failed else "pending" for id in ids}


def _having(rows: QuerySet[Any], ids: Sequence[UUID], model: EmbeddingModel) -> set[UUID]:
    return set(rows.filter(memory_id__in=ids, model_id=model.id).values_list("memory_id", flat=True))
