import threading

import pytest
from django.db import connection
from pytest_django import DjangoAssertNumQueries, Settings

from spaces.domain.embeddings import queries
from spaces.domain.embeddings.queries import embed_query
from spaces.embedding import client
from spaces.embedding.client import Patience
from spaces.models import EmbeddingModel
from tests.conftest import Cast
from tests.database import other_sessions
from tests.embeddings import FakeServer
from tests.spaces.domain.embeddings.conftest import forget

pytestmark = pytest.mark.django_db


def test_a_question_becomes_a_vector_of_the_serving_model(fake: FakeServer, model: EmbeddingModel) -> None:
    meaning = embed_query("  Where is the office dog?  ")
    assert (meaning.model, len(meaning.vector), meaning.degraded, meaning.shortened) == (
        model,
        384,
        "",
        False,
    )
    assert fake.asked[-1] == ["Where is the office dog?"]


def test_a_question_asked_again_is_not_embedded_again(
    fake: FakeServer, model: EmbeddingModel, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    embed_query("the same")
    asked = len(fake.asked)
    with django_assert_num_queries(0):
        assert embed_query("the same").vector is not None
    assert len(fake.asked) == asked


def test_a_long_question_is_shortened_and_says_so(fake: FakeServer, model: EmbeddingModel) -> None:
    meaning = embed_query("word " * 5000)
    assert meaning.shortened
    assert [len(text) for text in fake.asked[-1]] == [queries.LONGEST]


@pytest.mark.parametrize(
    "text", ["👍", "???", "\u200b\u200bx", "%s' OR 1=1", "a\nb", "が", "\U0001f1ea\U0001f1fa"]
)
def test_any_question_is_safe(model: EmbeddingModel, text: str) -> None:
    assert embed_query(text).vector is not None


@pytest.mark.parametrize("text", ["", "   ", "\n"])
def test_an_empty_question_has_no_vector(fake: FakeServer, model: EmbeddingModel, text: str) -> None:
    fake.asked.clear()
    assert (embed_query(text).vector, fake.asked) == (None, [])


def test_without_a_server_search_is_by_words_and_nothing_is_amiss(db: None, settings: Settings) -> None:
    forget()
    meaning = embed_query("anything")
    assert (meaning.vector, meaning.degraded) == (None, "")


def test_before_there_is_a_model_the_answer_says_so(cast: Cast, fake: FakeServer) -> None:
    assert embed_query("anything").degraded == "The model is being made ready."


def test_a_hanging_server_is_waited_for_once_and_briefly(
    fake: FakeServer, model: EmbeddingModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(client.PATIENCE, "query", Patience(0.5, 0.2))
    go_on = threading.Event()
    fake.behave = lambda texts: (go_on.wait(5), None)[1]
    assert embed_query("first").degraded == "The embedding server did not answer in time."
    asked = len(fake.asked)
    forget()
    assert embed_query("second").degraded == "The embedding server did not answer in time."
    assert len(fake.asked) == asked
    go_on.set()


def test_a_question_that_is_refused_is_no_trouble_of_the_model(
    fake: FakeServer, model: EmbeddingModel
) -> None:
    fake.fail(400)
    assert embed_query("refused").vector is None
    fake.recover()
    assert embed_query("accepted").vector is not None


@pytest.mark.django_db(transaction=True)
def test_no_connection_is_held_while_a_question_is_embedded(
    cast: Cast, fake: FakeServer, model: EmbeddingModel
) -> None:
    seen: list[int] = []

    def look(texts: list[str]) -> None:
        seen.append(other_sessions())
        connection.close()

    fake.behave = look
    forget()
    before = other_sessions()
    assert embed_query("anything").vector is not None
    assert seen == [before]
