"""Another model: built up beside the one that serves, in service when it is complete, never mixed with it."""

from collections.abc import Iterator
from datetime import timedelta

import pytest
import time_machine
from django.utils import timezone
from pytest_django import Settings

from accounts.domain.jobs import claim, run_due_jobs
from memoryhub.common.tenancy import tenant
from memoryhub.operations.hub.memories import recall
from spaces.domain.embeddings.adopting import adopt_configured
from spaces.domain.embeddings.changing import account_progress, finish_change, overall_progress
from spaces.domain.embeddings.lane import EMBEDDING
from spaces.domain.embeddings.queries import embed_query
from spaces.domain.embeddings.reembedding import reembed
from spaces.domain.embeddings.working import embed_batch
from spaces.models import EmbeddingModel, MemoryChunk
from tests.conftest import Cast
from tests.embeddings import Answer, FakeServer, serving
from tests.spaces.domain.embeddings.conftest import configure, forget
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

pytestmark = pytest.mark.django_db


@pytest.fixture(params=[768, 384], ids=["of another size", "of the same size"])
def other(request: pytest.FixtureRequest) -> Iterator[FakeServer]:
    with serving(dimensions=request.param, model="other-model", salt="other") as server:
        yield server


def switch(settings: Settings, server: FakeServer) -> EmbeddingModel:
    configure(settings, server)
    adopted = adopt_configured()
    assert adopted
    return adopted


def models() -> dict[str, str]:
    return dict(EmbeddingModel.objects.order_by("id").values_list("name", "state"))


def owners(cast: Cast) -> dict[int, int]:
    """Model → how many of the account's memories have vectors of it."""
    with tenant(cast.account.id):
        ids = EmbeddingModel.objects.values_list("id", flat=True)
        counted = {i: MemoryChunk.objects.filter(model_id=i).values("memory").distinct().count() for i in ids}
    return {i: count for i, count in counted.items() if count}


def test_a_new_model_serves_once_everything_has_its_vectors(
    cast: Cast, fake: FakeServer, model: EmbeddingModel, other: FakeServer, settings: Settings
) -> None:
    write(cast.agent, cast.space, *[f"Fact {i}" for i in range(100)], "The dog is called Biscuit")
    write(cast.outsider, cast.outsider_space, "Another team's fact")
    embed_all()
    new = switch(settings, other)
    assert models() == {"fake-model": "active", "other-model": "building"}
    assert not finish_change()
    embed_batch()
    assert EmbeddingModel.objects.serving() == model
    embed_all()
    assert owners(cast) == {model.id: 101, new.id: 101}
    assert finish_change()
    assert models() == {"fake-model": "retired", "other-model": "active"}
    forget()
    meaning = embed_query("pet")
    assert (meaning.model.id, len(meaning.vector)) == (new.id, other.dimensions)
    assert nearest(cast.agent, new.id, meaning.vector, 1) == ["The dog is called Biscuit"]
    run_due_jobs()
    assert owners(cast) == {new.id: 101}


def test_during_a_change_everything_works_and_the_old_model_serves(
    cast: Cast, fake: FakeServer, model: EmbeddingModel, other: FakeServer, settings: Settings
) -> None:
    kept, edited, gone = write(cast.agent, cast.space, "The cat sleeps", "Rent is due", "To be forgotten")
    embed_all()
    new = switch(settings, other)
    [written] = write(cast.agent, cast.space, "The dog barks")
    edit(edited, text="Database failover takes 40 seconds")
    forget_memory(gone)
    found = recall(cast.agent, {"q": "failover", "limit": 1})
    assert [item["text"] for item in found["items"]] == ["Database failover takes 40 seconds"]
    embed_all()
    forget()
    meaning = embed_query("pet")
    assert meaning.model == model
    assert set(nearest(cast.agent, model.id, meaning.vector, 2)) == {"The cat sleeps", "The dog barks"}
    assert owners(cast) == {model.id: 3, new.id: 3}
    assert chunks(gone) == []
    for memory in (kept, edited, written):
        assert {chunk.model_id for chunk in chunks(memory)} == {model.id, new.id}
    assert finish_change()
    assert {state(memory) for memory in (kept, edited, written)} == {"embedded"}


def test_vectors_of_two_models_are_never_compared(
    cast: Cast, fake: FakeServer, model: EmbeddingModel, other: FakeServer, settings: Settings
) -> None:
    write(cast.agent, cast.space, "The dog barks")
    embed_all()
    new = switch(settings, other)
    embed_all()
    with tenant(cast.account.id):
        sizes = {c.model_id: (len(c.vector), len(c.bits)) for c in MemoryChunk.objects.all()}
    assert sizes == {
        model.id: (384, 384),
        new.id: (other.dimensions, other.dimensions),
    }


def test_going_back_half_way_gives_up_the_new_model(
    cast: Cast, fake: FakeServer, model: EmbeddingModel, other: FakeServer, settings: Settings
) -> None:
    write(cast.agent, cast.space, *[f"Fact {i}" for i in range(100)])
    embed_all()
    switch(settings, other)
    embed_batch()
    assert switch(settings, fake) == model
    assert models() == {"fake-model": "active", "other-model": "retired"}
    embed_all()
    run_due_jobs()
    assert owners(cast) == {model.id: 100}
    assert waiting() == []


def test_a_change_goes_on_after_its_worker_was_killed(
    cast: Cast, fake: FakeServer, model: EmbeddingModel, other: FakeServer, settings: Settings
) -> None:
    write(cast.agent, cast.space, *[f"Fact {i}" for i in range(200)])
    embed_all()
    new = switch(settings, other)
    embed_batch()
    done = owners(cast)[new.id]
    assert 0 < done < 200
    other.asked.clear()
    claim(EMBEDDING, 100)  # by a worker of which nothing is heard again
    with time_machine.travel(timezone.now() + timedelta(seconds=61), tick=False):
        embed_all()
        assert finish_change()
    assert owners(cast)[new.id] == 200
    assert sum(len(texts) for texts in other.asked) == 200 - done


def test_a_new_model_in_trouble_leaves_the_old_one_working(
    cast: Cast, fake: FakeServer, model: EmbeddingModel, other: FakeServer, settings: Settings
) -> None:
    write(cast.agent, cast.space, "Known before")
    embed_all()
    switch(settings, other)
    other.fail(500)
    [written] = write(cast.agent, cast.space, "Written meanwhile")
    embed_all(20)
    assert state(written) == "embedded"
    forget()
    assert embed_query("anything").model == model
    assert not finish_change()
    other.recover()
    from spaces.domain.embeddings.health import check_models

    with time_machine.travel(timezone.now() + timedelta(seconds=100), tick=False):
        check_models()
        embed_all()
        assert finish_change()
    assert models() == {"fake-model": "retired", "other-model": "active"}


def test_a_text_that_the_new_model_refuses_does_not_hold_up_the_change(
    cast: Cast, fake: FakeServer, model: EmbeddingModel, other: FakeServer, settings: Settings
) -> None:
    good, bad = write(cast.agent, cast.space, "Good", "Bad")
    embed_all()
    switch(settings, other)
    refused = Answer(400, {"error": {"code": "x", "message": "x"}})
    other.behave = lambda texts: refused if any("Bad" in text for text in texts) else None
    embed_all()
    assert finish_change()
    assert (state(good), state(bad)) == ("embedded", "failed")
    other.recover()
    with time_machine.travel(timezone.now() + timedelta(seconds=6), tick=False):
        embed_all()
    assert state(bad) == "embedded"


def test_progress_is_told_by_account_and_overall(
    cast: Cast, fake: FakeServer, model: EmbeddingModel, other: FakeServer, settings: Settings
) -> None:
    write(cast.agent, cast.space, *[f"Fact {i}" for i in range(100)])
    write(cast.outsider, cast.outsider_space, "Another team's fact")
    embed_all()
    new = switch(settings, other)
    embed_batch()
    with tenant(cast.account.id):
        old_part, new_part = account_progress(cast.account.id)
    assert (old_part.model, old_part.memories, old_part.embedded, old_part.share) == (model, 100, 100, 1.0)
    assert (new_part.model, new_part.memories) == (new, 100)
    assert new_part.share == new_part.embedded / 100
    assert [part.memories for part in overall_progress()] == [101, 101]


def test_the_first_model_serves_from_its_first_vector_on(cast: Cast, fake: FakeServer) -> None:
    with tenant(cast.account.id):
        from tests.spaces.domain.search.memories import store

        store(cast.agent, cast.space, "Written before there was a model")
    new = adopt_configured()
    forget()
    assert embed_query("anything").model == new
    embed_all()
    assert finish_change()
    assert owners(cast) == {new.id: 1}


def test_reembedding_finds_what_lost_its_vectors(cast: Cast, fake: FakeServer, model: EmbeddingModel) -> None:
    memories = write(cast.agent, cast.space, *[f"Fact {i}" for i in range(30)])
    embed_all()
    with tenant(cast.account.id):
        MemoryChunk.objects.filter(memory_id=memories[7].id).delete()
    fake.asked.clear()
    last = list(reembed())[-1]
    assert (last.model, last.embedded, last.share) == (model, 30, 1.0)
    assert [len(texts) for texts in fake.asked] == [1]
    assert "100.0%  30 of 30 memories  fake-model" in last.as_line()


def test_reembedding_anew_makes_another_edition_of_the_same_model(
    cast: Cast, fake: FakeServer, model: EmbeddingModel
) -> None:
    [memory] = write(cast.agent, cast.space, "Fact")
    embed_all()
    fake.salt = "drifted"
    last = list(reembed(anew=True))[-1]
    assert (last.model.fingerprint, last.model.revision) == (model.fingerprint, 2)
    run_due_jobs()
    assert [chunk.model_id for chunk in chunks(memory)] == [last.model.id]
    assert list(EmbeddingModel.objects.order_by("id").values_list("state", flat=True)) == [
        "retired",
        "active",
    ]


def test_without_a_server_there_is_nothing_to_reembed_with(db: None) -> None:
    with pytest.raises(LookupError, match="EMBEDDING_URL"):
        next(reembed())


def test_another_address_of_the_same_model_changes_nothing_else(
    cast: Cast, fake: FakeServer, model: EmbeddingModel, settings: Settings
) -> None:
    with serving(model=fake.model) as moved:
        assert switch(settings, moved) == model
        assert EmbeddingModel.objects.get().url == moved.url


def test_other_prefixes_are_another_model(
    cast: Cast, fake: FakeServer, model: EmbeddingModel, settings: Settings
) -> None:
    settings.EMBEDDING_PASSAGE_PREFIX = "doc: "
    new = adopt_configured()
    assert (new.id != model.id, new.passage_prefix) == (True, "doc: ")
    write(cast.agent, cast.space, "Fact")
    embed_all()
    assert fake.asked[-1][-1].startswith("doc: [")
