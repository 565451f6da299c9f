"""Asking models for vectors. Nothing of the database is held meanwhile."""

from collections.abc import Callable, Iterator, Sequence

from django.db import connection

from spaces.domain.embeddings.configured import client_of
from spaces.domain.embeddings.drafts import Draft
from spaces.domain.embeddings.health import is_well, report_trouble
from spaces.embedding.base import EmbeddingError, Trouble, Vector
from spaces.embedding.client import Client, Patience
from spaces.models import EmbeddingModel

TEXTS = 32
"""In one request."""
ALONE = Patience(2.0, 5.0)
# Trouble that may be the doing of one text among many.
DOUBTFUL = {Trouble.UNAVAILABLE, Trouble.ANSWER}


def think(drafts: Sequence[Draft], model: EmbeddingModel, still_alive: Callable[[], None]) -> None:
    """Gives each draft its outcome with this model. A model in trouble is reported, and the rest have none."""
    let_go()
    try:
        for group in _groups([draft for draft in drafts if model in draft.missing]):
            still_alive()
            _embed(group, model)
    except EmbeddingError as error:
        report_trouble(model, error)


def let_go() -> None:
    """Give the connection back, unless a transaction (of a test) is open on it."""
    if not connection.in_atomic_block:
        connection.close()


def _groups(drafts: Sequence[Draft]) -> Iterator[list[Draft]]:
    """As many drafts as make one request; one by itself may make several."""
    group: list[Draft] = []
    room = TEXTS
    for draft in drafts:
        needed = len(draft.document.chunks)
        if group and needed > room:
            yield group
            group, room = [], TEXTS
        group.append(draft)
        room -= needed
    if group:
        yield group


def _embed(group: Sequence[Draft], model: EmbeddingModel) -> None:
    pieces = [draft.document.chunks for draft in group]
    answers = iter(_answers(model, [text for texts in pieces for text in texts]))
    for draft, texts in zip(group, pieces, strict=True):
        found = [next(answers) for _ in texts]
        faults = [answer for answer in found if isinstance(answer, EmbeddingError)]
        draft.outcomes[model.id] = (
            faults[0] if faults else [v for v in found if not isinstance(v, EmbeddingError)]
        )


def _answers(model: EmbeddingModel, texts: Sequence[str]) -> Iterator[Vector | EmbeddingError]:
    client = client_of(model)
    for start in range(0, len(texts), TEXTS):
        part = texts[start : start + TEXTS]
        try:
            yield from client.embed_each(part, "passage")
        except EmbeddingError as error:
            if not _doubtful(error, model):
                raise
            yield from (_alone(client_of(model, ALONE), text) for text in part)


def _doubtful(error: EmbeddingError, model: EmbeddingModel) -> bool:
    """Whether the server is well and the texts are to blame."""
    return error.trouble in DOUBTFUL and error.retry_after is None and is_well(model)


def _alone(client: Client, text: str) -> Vector | EmbeddingError:
    try:
        return client.embed_each([text], "passage")[0]
    except EmbeddingError as error:
        return error
