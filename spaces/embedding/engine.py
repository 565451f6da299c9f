"""A model that the embedder serves, from the moment it is asked for until it is ready, or what is in its way."""

import logging
import threading
import time
from collections.abc import Callable
from pathlib import Path

from spaces.embedding.base import EmbeddingError, Trouble
from spaces.embedding.build import Report, ensure_model
from spaces.embedding.crew import Crew, Encode
from spaces.embedding.default import DEFAULT_MODEL
from spaces.embedding.spec import FASTEMBED
from spaces.embedding.weights import BadWeights

log = logging.getLogger(__name__)

TRY_AGAIN_AFTER = 60.0
# What loading may run into: no such file or package, a disk that is full, bytes that are not a model.
FAULTS = (BadWeights, OSError, ImportError, RuntimeError, ValueError)

Load = Callable[[Report], Encode]


class Engine:
    """Loads in the background, from `start` or from the first text on."""

    def __init__(self, name: str, load: Load, threads: int) -> None:
        self.name = name
        self._load = load
        self._threads = threads
        self._starting = threading.Lock()
        self._started = False
        self._crew: Crew | None = None
        self._failure = ""
        self._done, self._doing = 0.0, "The model is not loaded"

    def start(self) -> None:
        with self._starting:
            if not self._started:
                self._started = True
                threading.Thread(target=self._prepare, name=f"prepare {self.name}", daemon=True).start()

    @property
    def status(self) -> dict[str, object]:
        state = "ready" if self._crew else "failed" if self._failure else "preparing"
        return {"model": self.name, "state": state, "done": self._done, "doing": self._failure or self._doing}

    def crew(self) -> Crew:
        """Raises EmbeddingError while there is none."""
        self.start()
        if self._crew:
            return self._crew
        if self._failure:
            raise EmbeddingError(Trouble.UNAVAILABLE, self._failure)
        raise EmbeddingError(Trouble.PREPARING, f"{self._doing} ({self._done:.0%})", retry_after=1.0)

    def _prepare(self) -> None:
        while not self._try():
            time.sleep(TRY_AGAIN_AFTER)

    def _try(self) -> bool:
        try:
            encode = self._load(self._report)
        except FAULTS as error:
            log.error("The model %s cannot be used: %s", self.name, error)
            self._failure = f"The model cannot be used: {error}"
            return False
        self._done, self._doing, self._failure = 1.0, "Ready", ""
        self._crew = Crew(encode, self._threads)
        return True

    def _report(self, done: float, doing: str) -> None:
        self._done, self._doing = done, doing
        if done > 0:
            log.info("%s: %s (%.0f %%)", self.name, doing, 100 * done)


def engines(name: str, cache: Path, threads: int, *, weights: Path | None = None) -> list[Engine]:
    """The model asked for first: the hub's own, which is always there, or `fastembed:NAME`."""
    own = Engine(DEFAULT_MODEL.name, lambda report: _own(cache, weights, report), threads)
    if not name.startswith(FASTEMBED):
        return [own]
    other = name.removeprefix(FASTEMBED)
    return [Engine(other, lambda report: _fetched(other, cache, report), threads), own]


def _own(cache: Path, weights: Path | None, report: Report) -> Encode:
    from spaces.embedding.e5 import E5

    return E5(ensure_model(cache, report, weights=weights)).encode


def _fetched(name: str, cache: Path, report: Report) -> Encode:
    report(0.1, "Fetching and loading")
    try:
        from spaces.embedding.fast import Fast
    except ImportError as error:
        raise ImportError("Install memoryhub[fastembed] for models by name.") from error
    return Fast(name, cache).encode
