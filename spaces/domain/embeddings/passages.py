"""The vector of a text that is not stored."""

from dataclasses import dataclass

from memoryhub.common.errors import Unavailable
from memoryhub.common.threads import let_go
from spaces.domain.embeddings.configured import client_of
from spaces.domain.embeddings.health import report_trouble
from spaces.embedding.base import EmbeddingError, Trouble, Vector
from spaces.models import EmbeddingModel


@dataclass(frozen=True)
class Passage:
    model: str
    vector: Vector


def embed_passage(text: str) -> Passage:
    """Of the model in service, as it makes them of what is stored. Not to be called inside a transaction.

    Raises Unavailable.
    """
    model = EmbeddingModel.objects.serving()
    if model is None or model.trouble:
        raise Unavailable(
            f"There is no model to embed with now. {model.trouble_note if model else ''}".strip()
        )
    let_go()
    try:
        return Passage(model.name, client_of(model).embed([text], "passage")[0])
    except EmbeddingError as error:
        if error.trouble is not Trouble.ANSWER:
            report_trouble(model, error)
        raise Unavailable(error.message) from None
