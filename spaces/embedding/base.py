"""What an engine for embeddings is, and how it fails."""

from collections.abc import Sequence
from enum import StrEnum
from typing import Literal, Protocol

import numpy as np
from numpy.typing import NDArray

Vector = NDArray[np.float32]
Kind = Literal["query", "passage"]


class Trouble(StrEnum):
    """Why there is no vector, by what can be done about it."""

    PREPARING = "preparing"
    """The model is being built or loaded: wait a little."""
    UNAVAILABLE = "unavailable"
    """No answer, too late, overloaded or broken: try again, less and less often."""
    REFUSED = "refused"
    """A bad credential, no credit, an unknown model: trying again changes nothing until a person does."""
    ANSWER = "answer"
    """An answer that is no use: not the right count or size, not numbers; or this text was refused."""
    DRIFT = "drift"
    """The same texts give other vectors than before: what is stored can't be compared with them."""


class EmbeddingError(Exception):
    """`message` may be shown to people: it has no text that was to be embedded, and no credential."""

    def __init__(self, trouble: Trouble, message: str, *, retry_after: float | None = None) -> None:
        super().__init__(message)
        self.trouble = trouble
        self.message = message
        self.retry_after = retry_after


class Embedder(Protocol):
    """Texts to vectors of length 1. Safe to call from several threads."""

    def embed(self, texts: Sequence[str], kind: Kind) -> list[Vector]:
        """All or nothing: raises EmbeddingError."""
        ...

    def embed_each(self, texts: Sequence[str], kind: Kind) -> list[Vector | EmbeddingError]:
        """What fails for one text alone stands in its place; raises what fails for all."""
        ...


def normalised(vector: Vector) -> Vector:
    return vector / max(float(np.linalg.norm(vector)), 1e-9)
