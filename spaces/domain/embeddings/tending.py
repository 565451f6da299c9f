"""What is looked after once a second by one thread of each worker."""

import logging
import threading
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
TEND_EVERY = 0.8


class Tending:
    """Of one process: whether it has found the configured model in order since it started."""

    def __init__(self) -> None:
        self._turn = threading.Lock()
        self._asked = threading.Event()
        self._tend_at = 0.0
        self.started = False
        self.said = False
        self.failures = 0
        self.try_at = 0.0

    def look(self) -> None:
        """One thread of a process is enough, since it waits for the embedder; who comes meanwhile leaves word."""
        self._asked.set()
        while self._asked.is_set() and self._turn.acquire(blocking=False):
            try:
                self._asked.clear()
                self._tend_now_and_then()
                work_off()
            finally:
                self._turn.release()

    def _tend_now_and_then(self) -> None:
        if time.monotonic() >= self._tend_at:
            self._tend_at = time.monotonic() + TEND_EVERY
            self.tend()

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


def work_off(busy: float = BUSY) -> int:
    """Embed what waits; answers how many jobs that were."""
    began, done = time.monotonic(), 0
    while found := embed_batch():
        done += found
        if time.monotonic() - began > busy:
            wake(EMBEDDING)
            break
    return done
