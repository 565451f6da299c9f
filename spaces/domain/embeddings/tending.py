"""What is looked after once a second by one thread of each worker."""

import logging
import time

from django.core.cache import cache

from accounts.domain.jobs import wake
from spaces.domain.embeddings.adopting import adopt_configured
from spaces.domain.embeddings.changing import finish_change
from spaces.domain.embeddings.configured import client_of
from spaces.domain.embeddings.health import check_models, pause, report_trouble
from spaces.domain.embeddings.lane import EMBEDDING
from spaces.domain.embeddings.status import NOT_ADOPTED
from spaces.domain.embeddings.working import embed_batch
from spaces.embedding.base import EmbeddingError, Trouble
from spaces.embedding.canaries import check_canaries
from spaces.models import EmbeddingModel

log = logging.getLogger(__name__)

COMING = {Trouble.PREPARING, Trouble.UNAVAILABLE}
GRACE = 5
"""Times that one a second apart it may be away at the start."""
BUSY = 5.0
"""Seconds of work after which others have their turn."""
LINGER = 0.3
"""Seconds to wait for more: longer than messages that wake a worker may be held back."""
GLANCE = 0.05


class Tending:
    """Of one process: whether it has found the configured model in order since it started."""

    def __init__(self) -> None:
        self.started = False
        self.said = False
        self.failures = 0
        self.try_at = 0.0

    def tend(self) -> None:
        if not self.started and time.monotonic() >= self.try_at:
            self._start()
        check_models()
        finish_change()

    def _start(self) -> None:
        """An embedder that starts at the same time has a few seconds until it counts as trouble."""
        model = None
        try:
            model = adopt_configured()
            if model:
                check_canaries(client_of(model), model.canary_vectors)
        except EmbeddingError as error:
            self._put_off(model, error)
        else:
            self.started = True
            cache.delete(NOT_ADOPTED)

    def _put_off(self, model: EmbeddingModel | None, error: EmbeddingError) -> None:
        self.failures += 1
        self.try_at = time.monotonic() + pause(error, max(0, self.failures - GRACE)).total_seconds()
        coming = error.trouble in COMING and self.failures < GRACE
        if model and not coming:
            report_trouble(model, error)
            self.started = True
        elif not model:
            self._say(Trouble.PREPARING if coming else error.trouble, error.message)

    def _say(self, trouble: Trouble, note: str) -> None:
        cache.set(NOT_ADOPTED, (str(trouble), note), timeout=None)
        if trouble is not Trouble.PREPARING and not self.said:
            log.error("Search is by words alone: %s", note)
            self.said = True


def work_off(busy: float = BUSY, linger: float = LINGER) -> int:
    """Embed what waits, and what comes in the moment after; answers how many jobs that were."""
    done = found = embed_batch()
    began = last = time.monotonic()
    while found or (done and time.monotonic() - last < linger):
        if time.monotonic() - began > busy:
            wake(EMBEDDING)
            break
        if not found:
            time.sleep(GLANCE)
        if found := embed_batch():
            done += found
            last = time.monotonic()
    return done
