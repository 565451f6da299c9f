"""An engine whose vectors are known: a text's direction is the sum of those of its topics."""

import re
from collections.abc import Sequence

import numpy as np
from django.utils import timezone

from spaces.domain.embeddings import QueryMeaning
from spaces.domain.embeddings.documents import document
from spaces.embedding.base import EmbeddingError, Kind, Vector, normalised
from spaces.models import EmbeddingModel, Memory, MemoryChunk

TOPICS = {
    "dog": "pet", "puppy": "pet", "biscuit": "pet", "animal": "pet",
    "database": "standby", "failover": "standby", "replica": "standby",
    "deploy": "release", "ship": "release", "rollout": "release",
    "tea": "drink", "coffee": "drink", "espresso": "drink",
}  # fmt: skip
AXES = ("pet", "standby", "release", "drink")


class TopicEngine:
    """Texts without a topic have a direction of their own, from all their letters."""

    def __init__(self, dimensions: int = 16) -> None:
        self.dimensions = dimensions

    def embed(self, texts: Sequence[str], kind: Kind) -> list[Vector]:
        return [self._vector(text.rpartition(": ")[2]) for text in texts]

    def embed_each(self, texts: Sequence[str], kind: Kind) -> list[Vector | EmbeddingError]:
        return list(self.embed(texts, kind))

    def _vector(self, text: str) -> Vector:
        vector = np.zeros(self.dimensions, np.float32)
        for word in re.findall(r"\w+", text.lower()):
            if word in TOPICS:
                vector[AXES.index(TOPICS[word])] += 1
        vector[len(AXES) + sum(text.encode()) % (self.dimensions - len(AXES))] += 0.3
        return normalised(vector)


def make_model(dimensions: int = 16, **fields: object) -> EmbeddingModel:
    return EmbeddingModel.objects.create(
        **{
            "name": "topics",
            "url": "http://embedder.example/v1",
            "dimensions": dimensions,
            "template_version": 1,
            "chunks_version": 1,
            "fingerprint": "f" * 64,
            "canaries": b"",
            "cosine_unrelated": 0.1,
            "cosine_relevant": 0.5,
            "state": "active",
            "check_at": timezone.now(),
            **fields,
        }
    )


def give_vectors(
    model: EmbeddingModel, memories: Sequence[Memory], engine: TopicEngine | None = None
) -> None:
    """As the job that embeds would, within the account in force."""
    engine = engine or TopicEngine(model.dimensions)
    for memory in memories:
        text = document(memory)
        vectors = engine.embed(text.chunks, "passage")
        put_vectors(model, memory, vectors, text.hash)


def put_vectors(
    model: EmbeddingModel, memory: Memory, vectors: Sequence[Vector], text_hash: bytes = b""
) -> None:
    MemoryChunk.objects.bulk_create(
        MemoryChunk(
            account_id=memory.account_id,
            memory_id=memory.id,
            model_id=model.id,
            number=number,
            space_id=memory.space_id,
            text_hash=text_hash,
            wide=model.wide,
            vector=vector,
        )
        for number, vector in enumerate(vectors)
    )


def meaning_of(model: EmbeddingModel, question: str, engine: TopicEngine | None = None) -> QueryMeaning:
    vector = (engine or TopicEngine(model.dimensions)).embed([question], "query")[0]
    return QueryMeaning(model, vector)
