"""Threads that encode texts, one at a time; a text by itself, for which somebody waits, comes before a batch's."""

import itertools
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from queue import PriorityQueue

from spaces.embedding.base import Vector

Encode = Callable[[str], Vector]
Task = tuple[int, int, str, "Future[Vector]"]


class Crew:
    def __init__(self, encode: Encode, size: int) -> None:
        self._encode = encode
        self._tasks: PriorityQueue[Task] = PriorityQueue()
        self._numbers = itertools.count()
        for number in range(size):
            threading.Thread(target=self._work, name=f"encode-{number}", daemon=True).start()

    def submit(self, texts: Sequence[str]) -> list["Future[Vector]"]:
        urgency = min(len(texts), 2)
        futures: list[Future[Vector]] = []
        for text in texts:
            futures.append(Future())
            self._tasks.put((urgency, next(self._numbers), text, futures[-1]))
        return futures

    def _work(self) -> None:
        while True:
            _, _, text, future = self._tasks.get()
            if not future.set_running_or_notify_cancel():
                continue
            try:
                future.set_result(self._encode(text))
            except Exception as error:
                future.set_exception(error)
