"""Waking workers through Celery: at once after a quiet moment, else gathered, and never at a caller's cost."""

import logging
import math
import os
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass

from celery import current_app

log = logging.getLogger(__name__)

EVERY = 0.15
"""Seconds between two messages about the same task from one process: what comes meanwhile is told together."""
MANY = 3
"""Where so many calls were told together the next wait is longer, up to LONGEST: a worker does more at a time."""
LONGEST = 0.6


def send_message(task: str) -> None:
    current_app.send_task(task, ignore_result=True)


@dataclass
class Pace:
    """Of messages about one task: when the next may go, and how many calls wait for it."""

    every: float
    next: float = 0.0
    waiting: int = 0

    def told(self, now: float, shortest: float) -> None:
        busy = self.waiting >= MANY
        self.every = min(2 * self.every, max(LONGEST, shortest)) if busy else shortest
        self.next, self.waiting = now + self.every, 0


class Waker:
    """A thread that sends the messages, from the first call on. What is asked for may come late, but it comes."""

    def __init__(self, send: Callable[[str], None] = send_message, every: float = EVERY) -> None:
        self._message = send
        self._every = every
        self._start_over()
        os.register_at_fork(after_in_child=self._start_over)

    def _start_over(self) -> None:
        self._paces: dict[str, Pace] = {}
        self._news = threading.Condition()
        self._thread: threading.Thread | None = None

    def wake(self, task: str) -> None:
        with self._news:
            pace = self._paces.setdefault(task, Pace(self._every))
            pace.waiting += 1
            if self._thread is None:
                self._thread = threading.Thread(target=self._work, name="waker", daemon=True)
                self._thread.start()
            if pace.waiting == 1:
                self._news.notify()

    def _work(self) -> None:
        while True:
            self._send(self._next())

    def _next(self) -> str:
        """The task whose time has come first; waits for it."""
        with self._news:
            while True:
                asked = [(pace.next, task) for task, pace in self._paces.items() if pace.waiting]
                due, task = min(asked, default=(math.inf, ""))
                now = time.monotonic()
                if due <= now:
                    self._paces[task].told(now, self._every)
                    return task
                self._news.wait(due - now if asked else None)

    def _send(self, task: str) -> None:
        """What a broker that is away would have told, the sweep finds out."""
        try:
            self._message(task)
        except Exception as error:
            log.warning("no worker could be woken: %s", type(error).__name__)
