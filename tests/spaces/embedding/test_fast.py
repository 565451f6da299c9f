"""Models by name, with a stand-in for the library that would fetch them."""

import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

from spaces.embedding.engine import engines


class TextEmbedding:
    def __init__(self, model_name: str, cache_dir: str, threads: int) -> None:
        assert (model_name, threads) == ("BAAI/bge-base-en-v1.5", 1)
        self.folder = Path(cache_dir)

    def embed(self, documents: list[str], batch_size: int) -> Iterator[np.ndarray]:
        assert batch_size == 1
        yield from (np.array([3.0, 4.0, len(text)], np.float64) for text in documents)


@pytest.fixture(autouse=True)
def forgotten() -> Iterator[None]:
    sys.modules.pop("spaces.embedding.fast", None)
    yield
    sys.modules.pop("spaces.embedding.fast", None)


def test_a_model_by_name_encodes_one_text_at_a_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    library = ModuleType("fastembed")
    library.TextEmbedding = TextEmbedding  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "fastembed", library)
    engine = engines("fastembed:BAAI/bge-base-en-v1.5", tmp_path, 1)[0]
    assert engine._try()
    [future] = engine.crew().submit(["query: x"])
    vector = future.result(10)
    assert (vector.dtype, float(np.linalg.norm(vector))) == (np.float32, pytest.approx(1))


def test_without_the_library_it_is_said_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setitem(sys.modules, "fastembed", None)
    engine = engines("fastembed:BAAI/bge-base-en-v1.5", tmp_path, 1)[0]
    assert not engine._try()
    assert "Install memoryhub[fastembed]" in caplog.text
