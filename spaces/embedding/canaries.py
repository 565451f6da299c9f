"""Texts whose vectors are kept, to notice when a server answers differently; and the scale of similarity."""

from dataclasses import dataclass

import numpy as np

from spaces.embedding.base import Embedder, EmbeddingError, Trouble, Vector
from spaces.embedding.default import COSINES, DEFAULT_MODEL
from spaces.embedding.neutral import passages, questions
from spaces.embedding.spec import ModelSpec

CANARIES = (
    "[Monday 8 May 2023] Alex: The backup of the billing database runs at four every morning.",
    "[Friday 2 June 2023] 由紀: 会議室の予約は前日の正午までにお願いします。",
    "[Sunday 9 July 2023] ci-agent: BUILD-4711 failed with exit code 137 in src/worker/pool.py.",
)
LEAST_COSINE = 0.98
RELEVANT = 0.6
"""The similarity that means relevant."""


@dataclass(frozen=True)
class Scale:
    """Cosines of this model: of texts that have nothing to do with each other, and of ones that just do."""

    unrelated: float
    relevant: float

    def similarity(self, cosine: float) -> float:
        """0 to 1, rising with the cosine; RELEVANT and more means relevant, 1 the same."""
        if cosine < self.relevant:
            share = (cosine - self.unrelated) / (self.relevant - self.unrelated)
            return max(0.0, RELEVANT * share)
        return min(1.0, RELEVANT + (1 - RELEVANT) * (cosine - self.relevant) / (1 - self.relevant))


def canary_vectors(embedder: Embedder) -> list[Vector]:
    return embedder.embed(CANARIES, "passage")


def check_canaries(embedder: Embedder, kept: list[Vector]) -> None:
    """Raises EmbeddingError: what the engine raises, or DRIFT."""
    for old, new in zip(kept, canary_vectors(embedder), strict=True):
        if len(old) != len(new):
            raise EmbeddingError(
                Trouble.DRIFT, f"The model now answers {len(new)} numbers instead of {len(old)}."
            )
        if (cosine := float(old @ new)) < LEAST_COSINE:
            raise EmbeddingError(
                Trouble.DRIFT, f"The model now answers other vectors for the same text (cosine {cosine:.2f})."
            )


def scale_of(spec: ModelSpec, embedder: Embedder) -> Scale:
    return Scale(*COSINES) if spec == DEFAULT_MODEL else calibrate(embedder)


def calibrate(embedder: Embedder) -> Scale:
    """Relevant is half-way between how near answers are to their question and how near the best of the others is."""
    answers = np.array(embedder.embed(passages(), "passage"))
    cosines = np.array(embedder.embed(questions(), "query")) @ answers.T
    own = np.eye(len(answers), dtype=bool)
    nearest_other = np.where(own, -1.0, cosines).max(axis=1)
    relevant = (float(np.median(cosines[own])) + float(np.median(nearest_other))) / 2
    return Scale(unrelated=min(float(cosines[~own].mean()), relevant - 0.01), relevant=min(relevant, 0.99))
