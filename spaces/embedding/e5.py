"""The default engine: multilingual-e5-small in small integers, on the processor.

One text a call, one thread a call: a vector then depends on its text alone, and callers run side by side.
"""

import re
import unicodedata
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import onnxruntime as ort
import sentencepiece

from spaces.embedding.base import EmbeddingError, Kind, Vector, normalised
from spaces.embedding.build import ModelFiles
from spaces.embedding.default import DEFAULT_MODEL
from spaces.embedding.encoder import INPUT
from spaces.embedding.weights import BLOCK, BLOCK_BYTES, unpack

WINDOW = 510
BEGIN, END = 0, 2
MEAN_FILE = Path(__file__).with_name("e5_mean.npy")

_INVISIBLE = re.compile(r"[\x00-\x08\x0e-\x1f\x7f\u200b-\u200f\u202a-\u202e\ufeff]")
_SPACE = re.compile(r"\s+")


class E5:
    def __init__(self, files: ModelFiles, *, centred: bool = True) -> None:
        self._session = ort.InferenceSession(files.encoder, _options(), providers=["CPUExecutionProvider"])
        self._pieces = sentencepiece.SentencePieceProcessor(model_file=str(files.pieces))
        self._words = np.memmap(files.words, np.uint8, "r").reshape(-1, self.dimensions // BLOCK, BLOCK_BYTES)
        self._mean = np.load(MEAN_FILE) if centred else np.zeros(self.dimensions, np.float32)

    dimensions = DEFAULT_MODEL.dimensions

    def embed(self, texts: Sequence[str], kind: Kind) -> list[Vector]:
        prefix = DEFAULT_MODEL.prefix(kind)
        return [self.encode(prefix + text) for text in texts]

    def embed_each(self, texts: Sequence[str], kind: Kind) -> list[Vector | EmbeddingError]:
        return list(self.embed(texts, kind))

    def encode(self, text: str) -> Vector:
        """A text with its prefix. What is longer than the model reads at once is read in parts."""
        numbers = self._numbers(text)
        count = max(1, -(-len(numbers) // WINDOW))
        size = -(-len(numbers) // count)
        parts = [numbers[i * size : (i + 1) * size] for i in range(count)]
        mean = np.mean([self._read(part) for part in parts], axis=0)
        return normalised(normalised(mean) - self._mean)

    def _numbers(self, text: str) -> list[int]:
        plain = unicodedata.normalize("NFKC", _INVISIBLE.sub("", _SPACE.sub(" ", text)))
        found: list[int] = self._pieces.encode(plain)
        return found

    def _read(self, numbers: list[int]) -> Vector:
        framed = [BEGIN, *numbers, END]
        vectors = unpack(self._words[framed]).reshape(1, len(framed), self.dimensions)
        mean: Vector = self._session.run(None, {INPUT: vectors})[0][0]
        return normalised(mean)


def _options() -> ort.SessionOptions:
    options = ort.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    options.log_severity_level = 3
    return options
