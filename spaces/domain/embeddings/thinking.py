"""Asking models for vectors. Nothing of the database is held meanwhile."""

from collections.abc import Iterator, Sequence

from memoryhub.common.threads import let_go
from spaces.domain.embeddings.configured import client_of
from spaces.domain.embeddings.drafts import Draft
from spaces.domain.embeddings.health import is_well, report_trouble
from spaces.embedding.base import EmbeddingError, Trouble, Vector
from spaces.embedding.client import Client, Patience
from spaces.models import EmbeddingModel

TEXTS = 32
"""In one request."""
ALONE = Patience(2.0, 5.0)


def think(drafts: Sequence[Draft], model: EmbeddingModel) -> None:
    """Gives each draft its outcome with this model. A model in trouble is reported, and the rest have none."""
    let_go()
    try:
        for group in _groups([draft for draft in drafts if model in draft.missing]):
            _embed(group, model)
    except EmbeddingError as error:
        report_trouble(model, error)


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
    for start in range(0, len(texts), TEXTS):
        yield from _request(model, texts[start : start + TEXTS])


def _request(model: EmbeddingModel, texts: Sequence[str]) -> list[Vector | EmbeddingError]:
    try:
        answers = client_of(model).embed_each(texts, "passage")
    except EmbeddingError as error:
        if error.trouble is not Trouble.UNAVAILABLE or error.retry_after or not is_well(model):
            raise
        # The server is well, so that one text among these must be to blame.
        return [_alone(client_of(model, ALONE), text) for text in texts]
    faults = [answer for answer in answers if isinstance(answer, EmbeddingError)]
    if len(faults) == len(answers) and not is_well(model):
        raise faults[0]
    return answers


def _alone(client: Client, text: str) -> Vector | EmbeddingError:
    try:
        return client.embed_each([text], "passage")[0]
    except EmbeddingError as error:
        return error
