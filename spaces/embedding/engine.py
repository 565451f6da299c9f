"""The model that the embedder serves, from the moment it is asked for until it is ready, or what is in its way."""

import logging
import threading
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from spaces.embedding.base import EmbeddingError, Trouble
from spaces.embedding.build import Report, ensure_model
from spaces.embedding.crew import Crew, Encode
from spaces.embedding.default import DEFAULT_MODEL
from spaces.embedding.weights import BadWeights

log = logging.getLogger(__name__)

TRY_AGAIN_AFTER = 60.0


@dataclass(frozen=True)
class Loaded:
    name: str
    encode: Encode


Load = Callable[[Report], Loaded]


def default_model(cache: Path, weights: Path | None = None) -> Load:
    """The model that comes with the hub, built below `cache` where it is not there yet."""

    def load(report: Report) -> Loaded:
        from spaces.embedding.e5 import E5

        files = ensure_model(cache, report, weights=weights)
        return Loaded(DEFAULT_MODEL.name, E5(files).encode)

    return load


class Engine:
    """Loads in the background. `start` may be called any number of times."""

    def __init__(self, load: Load, threads: int) -> None:
        self._load = load
        self._threads = threads
        self._starting = threading.Lock()
        self._thread: threading.Thread | None = None
        self.name = ""
        self.done = 0.0
        self.doing = "The model is not loaded"
        self.failure = ""
        self._crew: Crew | None = None

    def start(self) -> None:
        with self._starting:
            if self._thread is None:
                self._thread = threading.Thread(target=self._prepare, name="prepare", daemon=True)
                self._thread.start()

    @property
    def state(self) -> str:
        return "ready" if self._crew else "failed" if self.failure else "preparing"

    def crew(self) -> Crew:
        """Raises EmbeddingError while there is none."""
        self.start()
        if self._crew:
            return self._crew
        if self.failure:
            raise EmbeddingError(Trouble.UNAVAILABLE, self.failure)
        raise EmbeddingError(Trouble.PREPARING, f"{self.doing} ({self.done:.0%})", retry_after=1.0)

    def _prepare(self) -> None:
        pause = threading.Event()
        while not self._try():
            pause.wait(TRY_AGAIN_AFTER)

    def _try(self) -> bool:
        try:
            loaded = self._load(self._report)
        except (BadWeights, OSError, ImportError, RuntimeError, ValueError) as error:
            log.error("The embedding model cannot be used; search is by words alone: %s", error)
            self.failure = str(error)
            return False
        self.name = loaded.name
        self._crew = Crew(loaded.encode, self._threads)
        self.failure = ""
        log.info("The embedding model %s is ready", loaded.name)
        return True

    def _report(self, done: float, doing: str) -> None:
        self.done, self.doing = done, doing
        log.info("Embedding model: %s (%.0f %%)", doing, 100 * done)
