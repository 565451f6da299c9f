import numpy as np
import pytest

from spaces.embedding.base import EmbeddingError, Trouble, Vector
from spaces.embedding.canaries import CANARIES, Scale, calibrate, check_canaries
from tests.embeddings import vector_of


class Engine:
    """Vectors by the words of the texts."""

    def __init__(self, dimensions: int = 384, salt: str = "") -> None:
        self.dimensions, self.salt = dimensions, salt

    def embed(self, texts: list[str], kind: str) -> list[Vector]:
        return [np.array(vector_of(text, self.dimensions, self.salt), np.float32) for text in texts]


def trouble(engine: Engine, kept: list[Vector]) -> EmbeddingError:
    with pytest.raises(EmbeddingError) as caught:
        check_canaries(engine, kept)
    return caught.value


def test_the_same_model_passes() -> None:
    check_canaries(Engine(), Engine().embed(list(CANARIES), "passage"))


def test_another_model_of_the_same_size_is_noticed() -> None:
    error = trouble(Engine(salt="other"), Engine().embed(list(CANARIES), "passage"))
    assert (error.trouble, "cosine" in error.message) == (Trouble.DRIFT, True)


def test_another_size_is_noticed() -> None:
    error = trouble(Engine(256), Engine(384).embed(list(CANARIES), "passage"))
    assert (error.trouble, "256 numbers instead of 384" in error.message) == (Trouble.DRIFT, True)


def test_similarity_rises_from_nothing_over_relevant_to_the_same() -> None:
    scale = Scale(unrelated=0.1, relevant=0.3)
    cosines = [-1.0, 0.1, 0.2, 0.3, 0.65, 1.0, 1.1]
    assert [round(scale.similarity(c), 3) for c in cosines] == [0, 0, 0.3, 0.6, 0.8, 1, 1]


def test_any_model_gets_a_scale_that_can_be_used() -> None:
    for engine in (Engine(8), Engine(384), Engine(1024, "x")):
        scale = calibrate(engine)
        assert -1 <= scale.unrelated < scale.relevant < 1
