"""The last word on a search, where a server for it is configured: it reads the question and what was found together.

One that fails changes nothing but a note, and is left alone for a while.
"""

import logging
import time
from collections.abc import Sequence
from dataclasses import dataclass

from django.conf import settings

from memoryhub.common.threads import let_go
from spaces.embedding.base import EmbeddingError, Trouble
from spaces.models import Memory
from spaces.reranking.client import Reranker

log = logging.getLogger(__name__)

CONSIDERED = 50
"""Of the best that was found; or as many as are wanted."""
LONGEST = 2000
"""Characters of a text that are sent."""
PAUSES = (1.0, 2.0, 4.0, 8.0, 15.0)
HOPELESS_PAUSE = 60.0


@dataclass
class Pause:
    """Of this process."""

    until: float = 0.0
    failures: int = 0
    note: str = ""

    def begin(self, error: EmbeddingError) -> None:
        usual = PAUSES[min(self.failures, len(PAUSES) - 1)]
        seconds = HOPELESS_PAUSE if error.trouble is Trouble.REFUSED else max(usual, error.retry_after or 0.0)
        if not self.failures:
            log.error("Searches are not reranked: %s", error.message)
        self.until = time.monotonic() + seconds
        self.failures += 1
        self.note = error.message

    def end(self) -> None:
        self.until, self.failures, self.note = 0.0, 0, ""


_pause = Pause()


def reranks() -> bool:
    return bool(settings.RERANK_URL)


def best_order(query: str, memories: Sequence[Memory]) -> tuple[list[int], str]:
    """The places of the memories, best first, and a note if they are only as they were.

    Never raises. Not to be called inside a transaction, whose connection would wait.
    """
    as_found = list(range(len(memories)))
    if len(memories) < 2:
        return as_found, ""
    if time.monotonic() < _pause.until:
        return as_found, _pause.note
    server = Reranker(settings.RERANK_URL, settings.RERANK_MODEL, settings.RERANK_API_KEY)
    let_go()
    try:
        scores = server.scores(query.strip()[:LONGEST], [_told(memory) for memory in memories])
    except EmbeddingError as error:
        _pause.begin(error)
        return as_found, error.message
    _pause.end()
    return sorted(as_found, key=lambda place: -scores[place]), ""


def _told(memory: Memory) -> str:
    said_by = memory.agent or memory.decided_by
    return (
        (f"{said_by}: " if said_by else "")
        + (f"{memory.subject}. " if memory.subject else "")
        + memory.text[:LONGEST]
    )


def forget() -> None:
    """As if the process had just started."""
    _pause.end()
