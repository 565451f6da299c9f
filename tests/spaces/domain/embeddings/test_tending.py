"""What a worker looks after: the configured model at its start, and whether it still answers."""

import logging
import time

import pytest
from django.core.cache import cache
from django.test import Client
from pytest_django import Settings

from accounts.tasks import WORKER_SEEN
from spaces.domain.embeddings.status import embedding_status
from spaces.domain.embeddings.tending import GRACE, Tending, work_off
from spaces.models import EmbeddingModel
from tests.conftest import Cast
from tests.embeddings import FakeServer
from tests.spaces.domain.embeddings.writing import embed_all, state, write

pytestmark = pytest.mark.django_db


def tend(tending: Tending, times: int = 1) -> None:
    for _ in range(times):
        tending.try_at = 0.0
        tending.tend()


def test_a_worker_adopts_the_model_and_puts_it_into_service(cast: Cast, fake: FakeServer) -> None:
    tending = Tending()
    tend(tending)
    embed_all()
    tend(tending)
    assert EmbeddingModel.objects.get().state == "active"
    assert (embedding_status().state, embedding_status().model) == ("ready", "fake-model")


def test_a_server_that_starts_at_the_same_time_is_waited_for(
    cast: Cast, fake: FakeServer, caplog: pytest.LogCaptureFixture
) -> None:
    fake.stop()
    tending = Tending()
    with caplog.at_level(logging.ERROR):
        tend(tending, GRACE - 1)
        assert embedding_status().state == "preparing"
        fake.start()
        tend(tending)
    assert (embedding_status().state, caplog.text) == ("ready", "")


def test_a_server_that_does_not_come_is_given_up_and_taken_when_it_does(
    cast: Cast, fake: FakeServer, caplog: pytest.LogCaptureFixture
) -> None:
    fake.stop()
    tending = Tending()
    with caplog.at_level(logging.ERROR):
        tend(tending, GRACE + 2)
    assert (embedding_status().state, caplog.text.count("Search is by words alone")) == ("degraded", 1)
    [memory] = write(cast.agent, cast.space, "Written meanwhile")
    assert state(memory) == "pending"
    fake.start()
    tend(tending)
    embed_all()
    assert (embedding_status().state, state(memory)) == ("ready", "embedded")


def test_while_the_model_is_built_the_hub_is_not_ready_and_says_how_far_it_is(
    cast: Cast, fake: FakeServer
) -> None:
    fake.fail(503, code="preparing")
    tend(Tending(), GRACE + 2)
    cache.set(WORKER_SEEN, time.time())
    answer = Client().get("/readyz")
    assert (answer.status_code, answer.json()["checks"]["model"]) == (503, False)


def test_a_hub_whose_model_was_given_up_is_ready_by_words(cast: Cast, fake: FakeServer) -> None:
    fake.fail(500)
    tend(Tending(), GRACE + 2)
    cache.set(WORKER_SEEN, time.time())
    answer = Client().get("/readyz")
    assert answer.status_code == 200
    assert (answer.json()["search"], answer.json()["degraded"]) == ("words", "words")
    assert answer.json()["reason"] == "The embedding server answered 500."


def test_a_model_that_drifted_while_the_hub_was_down_is_not_used(
    cast: Cast, fake: FakeServer, model: EmbeddingModel, caplog: pytest.LogCaptureFixture
) -> None:
    fake.salt = "another model under the same name"
    with caplog.at_level(logging.ERROR):
        tend(Tending())
    assert EmbeddingModel.objects.get().trouble == "drift"
    assert "Search is by words alone" in caplog.text


def test_without_a_server_there_is_nothing_to_look_after(db: None, settings: Settings) -> None:
    tend(Tending())
    assert (embedding_status().state, EmbeddingModel.objects.count()) == ("off", 0)


def test_a_worker_works_off_what_waits_and_stops(cast: Cast, model: EmbeddingModel) -> None:
    write(cast.agent, cast.space, *[f"Fact {i}" for i in range(70)])
    assert (work_off(), work_off()) == (70, 0)
