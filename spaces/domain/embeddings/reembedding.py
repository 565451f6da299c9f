"""Vectors for everything that lacks them, by one command and with its progress."""

import time
from collections.abc import Iterator

from accounts.domain.jobs import enqueue_everywhere
from spaces.domain.embeddings.adopting import adopt_configured
from spaces.domain.embeddings.changing import Progress, finish_change, overall_progress, work_left
from spaces.domain.embeddings.health import check_models
from spaces.domain.embeddings.lane import COVER, EMBEDDING
from spaces.domain.embeddings.working import embed_batch

TELL_EVERY = 2.0
GLANCE = 0.2


def reembed(*, anew: bool = False) -> Iterator[Progress]:
    """Of the configured model; `anew` of a new edition of it, beside the one that serves.

    Works beside the workers, and tells now and then how far the newest model is, until it serves. Stopped, the
    workers go on alone. Raises EmbeddingError when the model does not answer, LookupError where there is none.
    """
    if adopt_configured(anew=anew) is None:
        raise LookupError("There is no server that embeds: EMBEDDING_URL is not set.")
    enqueue_everywhere(COVER, lane=EMBEDDING)
    told = 0.0
    while work_left():
        if time.monotonic() - told > TELL_EVERY:
            yield overall_progress()[-1]
            told = time.monotonic()
        _work()
    finish_change()
    yield overall_progress()[-1]


def _work() -> None:
    check_models()
    if not embed_batch():  # others have taken what is left, or the model is in trouble
        time.sleep(GLANCE)
