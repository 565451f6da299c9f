from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path
from queue import Empty

import pytest
from kombu import Connection
from kombu.simple import SimpleQueue

from memoryhub.running import folder_broker


@pytest.fixture
def connection(tmp_path: Path) -> Iterator[Connection]:
    with Connection(f"folder://localhost{tmp_path}") as connection:
        yield connection


@pytest.fixture
def queue(connection: Connection) -> Iterator[SimpleQueue]:
    with connection.SimpleQueue("work") as queue:
        yield queue


def take(queue: SimpleQueue) -> object:
    message = queue.get(block=False)
    message.ack()
    return message.payload


def test_messages_come_in_the_order_they_were_sent(queue: SimpleQueue) -> None:
    for n in range(12):
        queue.put({"n": n})
    assert queue.qsize() == 12
    assert [take(queue) for _ in range(12)] == [{"n": n} for n in range(12)]
    with pytest.raises(Empty):
        queue.get(block=False)


def test_nothing_stays_of_a_message_that_was_read(queue: SimpleQueue, tmp_path: Path) -> None:
    queue.put({"word": "gone"})
    take(queue)
    assert list(tmp_path.iterdir()) == []


def test_a_message_being_written_is_not_seen(queue: SimpleQueue, tmp_path: Path) -> None:
    (tmp_path / ".00000000000000000000_ab.work.msg").write_text('{"half')
    (tmp_path / "00000000000000000000_ab.other.msg").write_text("{}")
    assert queue.qsize() == 0
    with pytest.raises(Empty):
        queue.get(block=False)


def test_one_message_goes_to_one_of_several_readers(tmp_path: Path) -> None:
    url = f"folder://localhost{tmp_path}"
    with Connection(url) as connection, connection.SimpleQueue("work") as queue:
        for n in range(200):
            queue.put(n)
    taken: list[object] = []

    def read() -> None:
        with Connection(url) as connection, connection.SimpleQueue("work") as queue:
            while True:
                try:
                    taken.append(take(queue))
                except Empty:
                    return

    readers = [threading.Thread(target=read) for _ in range(4)]
    for reader in readers:
        reader.start()
    for reader in readers:
        reader.join()
    assert sorted(map(int, map(str, taken))) == list(range(200))


def test_clearing_forgets_what_an_earlier_run_left(queue: SimpleQueue, tmp_path: Path) -> None:
    queue.put("old")
    (tmp_path / ".ab.taken").write_text("half read")
    folder_broker.clear(tmp_path)
    assert list(tmp_path.iterdir()) == []
    assert queue.qsize() == 0
