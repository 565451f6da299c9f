import time
from queue import Queue

import pytest

from accounts.domain.waking import LONGEST, MANY, Pace, Waker

EVERY = 0.2
SOON = 10.0


def test_a_quiet_waker_sends_at_once_and_then_one_message_for_all_that_came_meanwhile() -> None:
    sent: Queue[tuple[str, float]] = Queue()
    waker = Waker(lambda task: sent.put((task, time.monotonic())), EVERY)
    waker.wake("one")
    _, first = sent.get(timeout=SOON)
    for _ in range(5):
        waker.wake("one")
    task, second = sent.get(timeout=SOON)
    assert task == "one"
    assert second - first >= EVERY * 0.9
    waker.wake("another")
    assert sent.get(timeout=SOON)[0] == "another"
    assert sent.empty()


def test_each_task_has_its_own_time() -> None:
    sent: Queue[str] = Queue()
    waker = Waker(sent.put, every=600)
    waker.wake("one")
    waker.wake("one")
    waker.wake("another")
    assert {sent.get(timeout=SOON) for _ in range(2)} == {"one", "another"}


def test_a_broker_that_is_away_costs_no_later_message(caplog: pytest.LogCaptureFixture) -> None:
    sent: Queue[str] = Queue()
    tried: Queue[str] = Queue()

    def send(task: str) -> None:
        tried.put(task)
        if tried.qsize() == 1:
            raise ConnectionError("amqp://hub:password@broker")
        sent.put(task)

    waker = Waker(send, every=0.0)
    waker.wake("one")
    assert tried.get(timeout=SOON) == "one"
    tried.put("one")
    waker.wake("one")
    assert sent.get(timeout=SOON) == "one"
    assert "password" not in caplog.text


def test_the_more_there_is_to_tell_the_more_is_told_together() -> None:
    pace, waits = Pace(0.15), []
    for calls in (1, MANY, MANY, 50, 50, MANY - 1, 1):
        pace.waiting = calls
        pace.told(now=100.0, shortest=0.15)
        waits.append(round(pace.next - 100.0, 2))
    assert waits == [0.15, 0.3, LONGEST, LONGEST, LONGEST, 0.15, 0.15]
    assert pace.waiting == 0
