import pytest
from pytest_django import DjangoAssertNumQueries

from accounts.domain.jobs import run_due_jobs
from memoryhub.common.ids import typed_id
from memoryhub.common.tenancy import tenant
from memoryhub.operations.hub.memories import memory_get, remember
from spaces.domain.embeddings.pending import embedding_states
from spaces.domain.spaces import Settings, update_space
from spaces.models import EmbeddingModel, MemoryChunk
from tests.conftest import Cast
from tests.embeddings import Answer, FakeServer
from tests.spaces.domain.embeddings.writing import chunks, embed_all, state, waiting, write

pytestmark = pytest.mark.django_db


def test_whoever_reads_a_memory_sees_how_far_it_is(
    cast: Cast, fake: FakeServer, model: EmbeddingModel
) -> None:
    id = remember(cast.agent, {"text": "The office dog is called Biscuit"})["memory"]["id"]
    assert memory_get(cast.agent, {"id": id})["embedding"] == "pending"
    fake.behave = lambda texts: Answer(400, {}) if any("Biscuit" in text for text in texts) else None
    embed_all()
    assert memory_get(cast.agent, {"id": id})["embedding"] == "failed"


def test_without_a_server_nothing_is_said_to_be_pending(cast: Cast) -> None:
    id = remember(cast.agent, {"text": "The office dog is called Biscuit"})["memory"]["id"]
    assert memory_get(cast.agent, {"id": id})["embedding"] == "off"


def test_the_states_of_many_take_as_many_queries_as_of_one(
    cast: Cast, model: EmbeddingModel, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    memories = write(cast.agent, cast.space, *[f"Fact {i}" for i in range(5)])
    embed_all()
    with tenant(cast.account.id):
        for few in (memories[:1], memories):
            with django_assert_num_queries(3):
                assert set(embedding_states(few).values()) == {"embedded"}


def test_a_repeat_that_adds_a_tag_is_embedded_with_it(
    cast: Cast, fake: FakeServer, model: EmbeddingModel
) -> None:
    remember(cast.agent, {"text": "The office dog is called Biscuit"})
    embed_all()
    remember(cast.agent, {"text": "The office dog is called Biscuit", "tags": ["pets"]})
    with tenant(cast.account.id):
        assert not MemoryChunk.objects.exists()
    embed_all()
    assert "(Main; pets): The office dog" in fake.asked[-1][0]


def test_a_repeat_that_adds_nothing_is_not_embedded_again(
    cast: Cast, fake: FakeServer, model: EmbeddingModel
) -> None:
    for _ in range(3):
        remember(cast.agent, {"text": "The office dog is called Biscuit"})
    assert len(waiting()) == 1


def test_the_queue_holds_ids_and_no_text(cast: Cast, model: EmbeddingModel) -> None:
    answer = remember(cast.agent, {"text": "The office dog is called Biscuit"})
    [job] = waiting()
    assert typed_id("mem", job.object_id) == answer["memory"]["id"]
    assert "Biscuit" not in str({field.name: getattr(job, field.attname) for field in job._meta.fields})


def test_a_space_with_another_name_keeps_its_vectors_until_there_are_new_ones(
    cast: Cast, fake: FakeServer, model: EmbeddingModel
) -> None:
    memories = write(cast.agent, cast.space, "One", "Two")
    [elsewhere] = write(cast.agent, None, "Three")
    embed_all()
    [kept] = chunks(elsewhere)
    with tenant(cast.account.id):
        update_space(cast.owner, Settings(name="Harbour"), space=cast.space.id)
    run_due_jobs()
    assert {state(memory) for memory in memories} == {"embedded"}
    fake.asked.clear()
    embed_all()
    assert sorted("(Harbour): " in text for texts in fake.asked for text in texts) == [True, True]
    assert [len(chunks(memory)) for memory in memories] == [1, 1]
    assert [chunk.id for chunk in chunks(elsewhere)] == [kept.id]
