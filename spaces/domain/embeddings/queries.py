"""The vector of a question. Asked for before the transaction of a search is opened: it may take a while."""

import time
from collections import OrderedDict
from dataclasses import dataclass
from threading import Lock

from memoryhub.common.threads import let_go
from spaces.domain.embeddings.configured import client_of, configured
from spaces.domain.embeddings.health import report_trouble
from spaces.domain.embeddings.status import OFF, PREPARING
from spaces.embedding.base import EmbeddingError, Trouble, Vector
from spaces.models import EmbeddingModel

LONGEST = 2000
"""Characters of a question that are embedded."""
MODEL_KEPT = 1.0
"""Seconds that a process goes by what it knows of the model."""
QUESTIONS_KEPT = 1000


@dataclass(frozen=True)
class QueryMeaning:
    """A question as a vector of `model`, to be compared with chunks of that model alone.

    Without a vector search is by words, and `degraded` says why; it is empty where that is as configured.
    """

    model: EmbeddingModel | None = None
    vector: Vector | None = None
    degraded: str = ""
    shortened: bool = False


def embed_query(text: str) -> QueryMeaning:
    """Never raises: what can't be had is told. Not to be called inside a transaction, whose connection would wait."""
    model = _serving()
    if model is None:
        return QueryMeaning(degraded=PREPARING if configured() else OFF)
    if model.trouble or not text.strip():
        return QueryMeaning(degraded=model.trouble_note)
    asked = text.strip()[:LONGEST]
    try:
        vector = _vector(model, asked)
    except EmbeddingError as error:
        if error.trouble is not Trouble.ANSWER:
            report_trouble(model, error)
        return QueryMeaning(degraded=error.message)
    return QueryMeaning(model, vector, shortened=len(text.strip()) > LONGEST)


_kept: OrderedDict[tuple[int, str], Vector] = OrderedDict()
_known: tuple[float, EmbeddingModel | None] = (-MODEL_KEPT, None)
_lock = Lock()


def _serving() -> EmbeddingModel | None:
    global _known
    now = time.monotonic()
    if now - _known[0] > MODEL_KEPT:
        _known = (now, EmbeddingModel.objects.serving())
    return _known[1]


def _vector(model: EmbeddingModel, text: str) -> Vector:
    """Of the questions asked lately it is known."""
    key = (model.id, text)
    with _lock:
        if key in _kept:
            _kept.move_to_end(key)
            return _kept[key]
    let_go()
    vector = client_of(model).embed([text], "query")[0]
    with _lock:
        _kept[key] = vector
        while len(_kept) > QUESTIONS_KEPT:
            _kept.popitem(last=False)
    return vector


def forget() -> None:
    """As if the process had just started."""
    global _known
    _known = (-MODEL_KEPT, None)
    _kept.clear()
