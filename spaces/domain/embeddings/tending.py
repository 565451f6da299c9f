"""What is looked after once a second by one thread of each worker."""

import logging
import time

from accounts.domain.jobs import wake
from spaces.domain.embeddings.adopting import adopt_configured
from spaces.domain.embeddings.changing import finish_change
from spaces.domain.embeddings.health import check_models, pause
from spaces.domain.embeddings.lane import EMBEDDING
from spaces.domain.embeddings.working import embed_batch
from spaces.embedding.base import EmbeddingError, Trouble

log = logging.getLogger(__name__)

BUSY = 5.0
"""Seconds of work after which others have their turn."""
LINGER = 0.3
"""Seconds to wait for more: longer than messages that wake a worker may be held back."""
GLANCE = 0.05


class Tending:
    """Of one process: whether it has seen to it that the configured model is the wanted one."""

    def __init__(self) -> None:
        self.adopted = False
        self.failures = 0
        self.try_at = 0.0

    def tend(self) -> None:
        if not self.adopted and time.monotonic() >= self.try_at:
            self._adopt()
        check_models()
        finish_change()

    def _adopt(self) -> None:
        try:
            adopt_configured()
        except EmbeddingError as error:
            if self.failures == 0 and error.trouble is not Trouble.PREPARING:
                log.error("Search is by words alone: %s", error.message)
            self.try_at = time.monotonic() + pause(error, self.failures).total_seconds()
            self.failures += 1
        else:
            self.adopted = True


def work_off(busy: float = BUSY, linger: float = LINGER) -> int:
    """Embed what waits, and what comes in the moment after; answers how many jobs that were."""
    done = found = embed_batch()
    began = last = time.monotonic()
    while done and time.monotonic() - last < linger:
        if time.monotonic() - began > busy:
            wake(EMBEDDING)
            break
        if not found:
            time.sleep(GLANCE)
        if found := embed_batch():
            done += found
            last = time.monotonic()
    return done
