"""Models of the library `fastembed` (an extra), which fetches them from a hub by name."""

from pathlib import Path

import numpy as np
from fastembed import TextEmbedding

from spaces.embedding.base import Vector, normalised


class Fast:
    def __init__(self, name: str, cache: Path) -> None:
        self._model = TextEmbedding(name, cache_dir=str(cache), threads=1)

    def encode(self, text: str) -> Vector:
        """A text with its prefix. One at a time: vectors of quantised models depend on their batch."""
        (vector,) = self._model.embed([text], batch_size=1)
        return normalised(np.asarray(vector, np.float32))
