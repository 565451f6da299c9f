"""Writes as the memories' domain makes them, as far as embedding is concerned."""

from typing import Any

from accounts.actor import Actor, system_actor
from accounts.models import Job
from memoryhub.common.tenancy import tenant
from spaces.domain.embeddings.lane import EMBEDDING
from spaces.domain.embeddings.pending import embed_later, embedding_states
from spaces.domain.embeddings.working import embed_batch
from spaces.domain.memories import delete_memory, edit_memory
from spaces.models import Memory, MemoryChunk, Space
from tests.spaces.domain.search.memories import store


def write(actor: Actor, space: Space | None, *texts: str, **fields: Any) -> list[Memory]:
    with tenant(actor.account_id):
        memories = store(actor, space, *texts, **fields)
        embed_later(memories)
    return memories


def edit(memory: Memory, **changes: Any) -> None:
    with tenant(memory.account_id):
        edit_memory(system_actor(memory.account_id), memory.id, **changes)


def forget_memory(memory: Memory) -> None:
    with tenant(memory.account_id):
        delete_memory(system_actor(memory.account_id), memory.id)


def embed_all(limit: int = 200) -> int:
    """Work off what is due now."""
    done = 0
    while limit and (found := embed_batch()):
        done += found
        limit -= 1
    return done


def chunks(memory: Memory) -> list[MemoryChunk]:
    with tenant(memory.account_id):
        return list(MemoryChunk.objects.filter(memory_id=memory.id).order_by("model_id", "number"))


def state(memory: Memory) -> str:
    with tenant(memory.account_id):
        return embedding_states([memory])[memory.id]


def waiting() -> list[Job]:
    return list(Job.objects.filter(lane=EMBEDDING.name).order_by("id"))


def nearest(actor: Actor, model_id: int, vector: Any, limit: int = 5) -> list[str]:
    """The texts nearest to a question, by the index of vectors alone."""
    from pgvector.django import CosineDistance

    with tenant(actor.account_id):
        rows = MemoryChunk.objects.filter(account_id=actor.account_id, model_id=model_id, wide=False)
        near = rows.annotate(distance=CosineDistance("vector", vector)).order_by("distance")
        return list(near.values_list("memory__text", flat=True)[:limit])
