"""From a write to its vectors, whatever comes between."""

import threading
from collections.abc import Callable
from datetime import timedelta

import numpy as np
import pytest
import time_machine
from django.db import connection, transaction
from django.utils import timezone

from accounts.domain.jobs import claim
from memoryhub.common.tenancy import tenant
from spaces.domain.embeddings.lane import EMBEDDING
from spaces.domain.embeddings.pending import embed_later
from spaces.domain.embeddings.queries import embed_query
from spaces.domain.embeddings.working import embed_batch
from spaces.models import EmbeddingModel, MemoryChunk
from tests.conftest import Cast
from tests.database import other_sessions
from tests.embeddings import Answer, FakeServer
from tests.spaces.domain.embeddings.writing import (
    chunks,
    edit,
    embed_all,
    forget_memory,
    nearest,
    state,
    waiting,
    write,
)
from tests.spaces.domain.search.memories import store

pytestmark = pytest.mark.django_db


def test_a_written_memory_gets_its_vector_and_its_job_is_gone(
    cast: Cast, fake: FakeServer, model: EmbeddingModel
) -> None:
    [memory] = write(cast.agent, cast.space, "The office dog is called Biscuit", agent="ana")
    assert state(memory) == "pending"
    embed_all()
    [chunk] = chunks(memory)
    assert (chunk.model_id, chunk.space_id, chunk.wide) == (model.id, cast.space.id, False)
    assert fake.asked[-1] == [
        f"[{memory.occurred_at:%A} {memory.occurred_at.day} {memory.occurred_at:%B %Y}] "
        "ana (Main): The office dog is called Biscuit"
    ]
    assert (state(memory), waiting()) == ("embedded", [])


def test_a_question_of_the_same_meaning_is_nearest_to_it(cast: Cast, model: EmbeddingModel) -> None:
    write(cast.agent, cast.space, "The office dog is called Biscuit", "Rent is due on Friday")
    embed_all()
    meaning = embed_query("pet name")
    assert meaning.model == model
    assert nearest(cast.agent, model.id, meaning.vector, 1) == ["The office dog is called Biscuit"]


def test_memories_of_the_account_as_a_whole_are_embedded_too(cast: Cast, model: EmbeddingModel) -> None:
    [memory] = write(cast.agent, None, "Everybody is off on Friday")
    embed_all()
    assert [chunk.space_id for chunk in chunks(memory)] == [None]


def test_a_long_memory_is_embedded_to_its_end(cast: Cast, model: EmbeddingModel) -> None:
    text = " ".join(f"Paragraph {i} is about shelf {i}." for i in range(400)) + " The key is under the mat."
    [memory] = write(cast.agent, cast.space, text)
    embed_all()
    made = chunks(memory)
    assert [chunk.number for chunk in made] == list(range(len(made)))
    assert len(made) > 10
    question = embed_query("key mat under").vector
    best = max(range(len(made)), key=lambda i: np.dot(made[i].vector, question))
    assert best == len(made) - 1


def test_a_whole_batch_is_one_request(cast: Cast, fake: FakeServer, model: EmbeddingModel) -> None:
    fake.asked.clear()
    write(cast.agent, cast.space, *[f"Fact number {i}" for i in range(20)])
    write(cast.outsider, cast.outsider_space, "Another team's fact")
    embed_all()
    assert [len(texts) for texts in fake.asked] == [21]


def test_an_edit_leaves_no_older_vector_for_a_moment(
    cast: Cast, fake: FakeServer, model: EmbeddingModel
) -> None:
    [memory] = write(cast.agent, cast.space, "Office dog is called Biscuit")
    embed_all()
    edit(memory, text="Database failover takes 40 seconds")
    assert (chunks(memory), state(memory)) == ([], "pending")
    embed_all()
    assert state(memory) == "embedded"
    assert "failover" in fake.asked[-1][0]


def test_an_edit_of_what_is_not_embedded_keeps_the_vector(
    cast: Cast, fake: FakeServer, model: EmbeddingModel
) -> None:
    [memory] = write(cast.agent, cast.space, "Office dog is called Biscuit")
    embed_all()
    [before] = chunks(memory)
    fake.asked.clear()
    edit(memory, importance=0.9)
    assert embed_all() == 1
    assert [chunk.id for chunk in chunks(memory)] == [before.id]
    assert (fake.asked, waiting()) == ([], [])


def test_a_memory_written_several_times_is_embedded_once(
    cast: Cast, fake: FakeServer, model: EmbeddingModel
) -> None:
    [memory] = write(cast.agent, cast.space, "First")
    for text in ("Second", "Third"):
        edit(memory, text=text)
    fake.asked.clear()
    embed_all()
    assert [len(texts) for texts in fake.asked] == [1]
    assert waiting() == []


def test_nothing_is_left_of_a_write_that_was_rolled_back(cast: Cast, model: EmbeddingModel) -> None:
    with pytest.raises(ZeroDivisionError), transaction.atomic():
        write(cast.agent, cast.space, "Never said")
        raise ZeroDivisionError
    assert waiting() == []


def test_without_a_server_no_work_piles_up(cast: Cast, settings: object) -> None:
    [memory] = write(cast.agent, cast.space, "Kept, and found by words")
    assert (waiting(), state(memory), embed_all()) == ([], "off", 0)


def test_a_job_whose_worker_was_killed_is_done_by_another(
    cast: Cast, fake: FakeServer, model: EmbeddingModel
) -> None:
    [memory] = write(cast.agent, cast.space, "Still to be embedded")
    assert len(claim(EMBEDDING, 10)) == 1  # by a worker of which nothing is heard again
    assert embed_all() == 0
    with time_machine.travel(timezone.now() + EMBEDDING.lease + timedelta(seconds=1), tick=False):
        embed_all()
    assert (state(memory), waiting()) == ("embedded", [])


def test_vectors_wider_than_the_index_takes_are_kept(cast: Cast, settings: object, fake: FakeServer) -> None:
    from spaces.domain.embeddings.adopting import adopt_configured

    fake.dimensions = 3072
    model = adopt_configured()
    assert model
    [memory] = write(cast.agent, cast.space, "A wide one")
    embed_all()
    [chunk] = chunks(memory)
    assert (model.wide, chunk.wide, len(chunk.vector)) == (True, True, 3072)


# What comes between reading a memory and keeping its vector. Everything is committed here, as it is in life.


class Meanwhile:
    """Does something once, in the server's thread, while the first batch is being embedded."""

    def __init__(self, act: Callable[[], None]) -> None:
        self.act = act
        self.done = threading.Event()

    def __call__(self, texts: list[str]) -> Answer | None:
        if not self.done.is_set():
            self.done.set()
            try:
                self.act()
            finally:
                connection.close()
        return None


@pytest.mark.django_db(transaction=True)
def test_an_edit_during_embedding_never_keeps_the_older_vector(
    cast: Cast, fake: FakeServer, model: EmbeddingModel
) -> None:
    [memory] = write(cast.agent, cast.space, "Office dog is called Biscuit")
    fake.behave = Meanwhile(lambda: edit(memory, text="Database failover takes 40 seconds"))
    embed_batch()
    assert chunks(memory) == []
    with time_machine.travel(timezone.now() + timedelta(seconds=1), tick=False):
        embed_all()
    assert "failover" in fake.asked[-1][0]
    assert (state(memory), waiting()) == ("embedded", [])


@pytest.mark.django_db(transaction=True)
def test_an_edit_that_is_not_committed_yet_is_waited_for(
    cast: Cast, fake: FakeServer, model: EmbeddingModel
) -> None:
    [memory] = write(cast.agent, cast.space, "Office dog is called Biscuit")
    held, go_on, editor = threading.Event(), threading.Event(), threading.Thread()

    def edit_slowly() -> None:
        with transaction.atomic():
            edit(memory, text="Database failover takes 40 seconds")
            held.set()
            go_on.wait(10)
        connection.close()

    def begin() -> None:
        nonlocal editor
        editor = threading.Thread(target=edit_slowly)
        editor.start()
        held.wait(10)

    fake.behave = Meanwhile(begin)
    embed_batch()
    assert chunks(memory) == []
    go_on.set()
    editor.join()
    with time_machine.travel(timezone.now() + timedelta(seconds=1), tick=False):
        embed_all()
    assert "failover" in fake.asked[-1][0]
    assert (state(memory), waiting()) == ("embedded", [])


@pytest.mark.django_db(transaction=True)
def test_a_memory_forgotten_during_embedding_leaves_nothing(
    cast: Cast, fake: FakeServer, model: EmbeddingModel
) -> None:
    [memory] = write(cast.agent, cast.space, "To be forgotten")

    fake.behave = Meanwhile(lambda: forget_memory(memory))
    embed_all()
    assert (chunks(memory), waiting()) == ([], [])


@pytest.mark.django_db(transaction=True)
def test_no_transaction_is_open_and_no_connection_taken_while_the_model_thinks(
    cast: Cast, fake: FakeServer, model: EmbeddingModel
) -> None:
    write(cast.agent, cast.space, "Thought about at length")
    seen: list[int] = []

    def look() -> None:
        seen.append(other_sessions())

    before = other_sessions()
    fake.behave = Meanwhile(look)
    embed_all()
    assert seen == [before]


@pytest.mark.django_db(transaction=True)
def test_a_thousand_writes_beside_two_workers_leave_none_without_vector(
    cast: Cast, fake: FakeServer, model: EmbeddingModel
) -> None:
    writing = threading.Event()
    writing.set()

    def work() -> None:
        while writing.is_set() or waiting():
            embed_batch()
        connection.close()

    workers = [threading.Thread(target=work) for _ in range(2)]
    for worker in workers:
        worker.start()
    for batch in range(100):
        write(cast.agent, cast.space, *[f"Fact {batch}.{i}" for i in range(10)])
    writing.clear()
    for worker in workers:
        worker.join(60)
    with tenant(cast.account.id):
        assert MemoryChunk.objects.values("memory_id").distinct().count() == 1000
        assert MemoryChunk.objects.count() == 1000


def test_another_teams_memories_stay_apart(cast: Cast, model: EmbeddingModel) -> None:
    [own] = write(cast.agent, cast.space, "Ours")
    [foreign] = write(cast.outsider, cast.outsider_space, "Theirs")
    embed_all()
    with tenant(cast.account.id):
        assert list(MemoryChunk.objects.values_list("memory_id", flat=True)) == [own.id]
    with tenant(cast.outsider.account_id):
        assert list(MemoryChunk.objects.values_list("memory_id", flat=True)) == [foreign.id]


def test_a_write_costs_one_statement_more(cast: Cast, model: EmbeddingModel, inside: None) -> None:
    from django.test.utils import CaptureQueriesContext

    memories = store(cast.agent, cast.space, "One", "Two", "Three")
    with CaptureQueriesContext(connection) as queries:
        embed_later(memories)
    assert len(queries) == 1
