"""A server that fails in every way a server can: what is written stays, waits in the open, and is embedded later."""

import logging
from collections.abc import Callable
from datetime import timedelta

import pytest
import time_machine
from django.utils import timezone
from pytest_django import Settings

from memoryhub.common.tenancy import tenant
from spaces.domain.embeddings.adopting import adopt_configured
from spaces.domain.embeddings.health import check_models
from spaces.domain.embeddings.queries import embed_query
from spaces.domain.embeddings.status import embedding_status
from spaces.embedding import client
from spaces.embedding.base import EmbeddingError, Trouble
from spaces.embedding.client import Patience
from spaces.models import EmbeddingFailure, EmbeddingModel
from tests.conftest import Cast
from tests.embeddings import Answer, FakeServer
from tests.spaces.domain.embeddings.conftest import configure, forget
from tests.spaces.domain.embeddings.writing import chunks, edit, embed_all, state, waiting, write

pytestmark = pytest.mark.django_db
Failing = Callable[[FakeServer], None]


@pytest.fixture(autouse=True)
def hurried(monkeypatch: pytest.MonkeyPatch) -> None:
    """A hanging server is given up soon."""
    for kind in ("query", "passage"):
        monkeypatch.setitem(client.PATIENCE, kind, Patience(0.5, 0.3))


def later(seconds: float) -> time_machine.travel:
    return time_machine.travel(timezone.now() + timedelta(seconds=seconds), tick=False)


def look_again(seconds: float) -> None:
    with later(seconds):
        check_models()
        embed_all()


def hang(fake: FakeServer) -> None:
    import threading

    release = threading.Event()
    release_after = threading.Timer(2, release.set)
    release_after.daemon = True
    release_after.start()
    fake.behave = lambda texts: (release.wait(2), None)[1]


FAILURES: dict[str, Failing] = {
    "refuses": lambda fake: fake.stop(),
    "hangs": hang,
    "is broken": lambda fake: fake.fail(500),
    "is overloaded": lambda fake: fake.fail(429),
    "has no credit": lambda fake: fake.fail(402),
    "knows the key no more": lambda fake: fake.fail(401),
    "has no such model": lambda fake: fake.fail(404),
    "has used up its quota": lambda fake: fake.fail(429, code="insufficient_quota"),
    "talks nonsense": lambda fake: setattr(fake, "behave", lambda texts: Answer(body=b"<html>")),
    "has another form": lambda fake: setattr(fake, "behave", lambda texts: Answer(body={"data": 3})),
    "forgets one": lambda fake: setattr(
        fake, "behave", lambda texts: Answer(body={"data": fake.right(texts).body["data"][1:]})
    ),
    "answers another size": lambda fake: setattr(fake, "dimensions", 768),
}


@pytest.mark.parametrize("failing", FAILURES.values(), ids=FAILURES)
def test_what_is_written_while_the_server_fails_is_embedded_once_it_recovers(
    cast: Cast, fake: FakeServer, model: EmbeddingModel, failing: Failing
) -> None:
    [before] = write(cast.agent, cast.space, "Known before")
    embed_all()
    failing(fake)
    memories = write(cast.agent, cast.space, *[f"Written meanwhile {i}" for i in range(20)])
    embed_all()
    assert {state(memory) for memory in memories} == {"pending"}
    assert len(waiting()) == 20
    assert (embedding_status().state, bool(embedding_status().note)) == ("degraded", True)
    forget()
    assert embed_query("anything").vector is None
    assert embed_query("anything").degraded

    fake.recover()
    fake.dimensions = 384
    if fake._server is None:
        fake.start()
    look_again(301)
    assert {state(memory) for memory in [before, *memories]} == {"embedded"}
    assert (waiting(), embedding_status().state) == ([], "ready")
    forget()
    assert embed_query("anything").vector is not None


@pytest.mark.parametrize("code", [401, 402, 403, 404])
def test_a_server_that_refuses_us_is_asked_once_a_minute_at_most(
    cast: Cast, fake: FakeServer, model: EmbeddingModel, code: int
) -> None:
    write(cast.agent, cast.space, *[f"Fact {i}" for i in range(50)])
    fake.fail(code)
    fake.asked.clear()
    embed_all()
    assert len(fake.asked) == 1
    for seconds in (1, 10, 30, 59):
        look_again(seconds)
    assert len(fake.asked) == 1
    look_again(61)
    assert len(fake.asked) == 2


def test_a_server_that_says_when_is_left_alone_until_then(
    cast: Cast, fake: FakeServer, model: EmbeddingModel
) -> None:
    write(cast.agent, cast.space, "Fact")
    fake.fail(429, retry_after="90")
    fake.asked.clear()
    embed_all()
    look_again(89)
    assert len(fake.asked) == 1
    look_again(91)
    assert len(fake.asked) == 2


def test_each_failed_look_makes_the_next_one_later(
    cast: Cast, fake: FakeServer, model: EmbeddingModel
) -> None:
    fake.stop()
    write(cast.agent, cast.space, "Fact")
    embed_all()
    waits = []
    for _ in range(6):
        row = EmbeddingModel.objects.get()
        with time_machine.travel(row.check_at, tick=False):
            check_models()
            waits.append((EmbeddingModel.objects.get().check_at - timezone.now()).total_seconds())
    assert waits == [2, 4, 8, 15, 15, 15]


def test_one_look_is_made_however_many_workers_there_are(fake: FakeServer, model: EmbeddingModel) -> None:
    from spaces.domain.embeddings.health import _taken

    with later(3601):
        due = list(EmbeddingModel.objects.all())
        assert [_taken(due[0]), _taken(due[0])] == [True, False]


# One bad text among good ones

BAD = "the one that fails"


def refusing(fake: FakeServer, status: int) -> Callable[[list[str]], Answer | None]:
    def behave(texts: list[str]) -> Answer | None:
        bad = any(BAD in text for text in texts)
        return Answer(status, {"error": {"code": "x", "message": "x"}}) if bad else None

    return behave


def spoiling(fake: FakeServer, item: object) -> Callable[[list[str]], Answer | None]:
    def behave(texts: list[str]) -> Answer | None:
        bad = {f"item_{i}": item for i, text in enumerate(texts) if BAD in text}
        return fake.right(texts, **bad) if bad else None

    return behave


SPOILT = {
    "refused with 400": lambda fake: refusing(fake, 400),
    "too long by 413": lambda fake: refusing(fake, 413),
    "crashing the server": lambda fake: refusing(fake, 500),
    "not a number": lambda fake: spoiling(fake, [float("nan")] * 384),
    "infinite": lambda fake: spoiling(fake, [float("inf")] * 384),
    "all zero": lambda fake: spoiling(fake, [0.0] * 384),
    "null": lambda fake: spoiling(fake, None),
    "too short": lambda fake: spoiling(fake, [0.1] * 3),
    "text": lambda fake: spoiling(fake, ["a"] * 384),
}


@pytest.mark.parametrize("spoil", SPOILT.values(), ids=SPOILT)
def test_one_bad_text_of_a_batch_fails_alone_and_is_tried_again(
    cast: Cast, fake: FakeServer, model: EmbeddingModel, spoil: Callable[[FakeServer], object]
) -> None:
    texts = [f"Good {i}" for i in range(9)]
    texts.insert(4, f"This is {BAD}")
    memories = write(cast.agent, cast.space, *texts)
    fake.behave = spoil(fake)
    embed_all()
    states = [state(memory) for memory in memories]
    assert states == ["failed" if BAD in memory.text else "embedded" for memory in memories]
    assert EmbeddingModel.objects.get().trouble == ""
    [job] = waiting()
    assert job.object_id == memories[4].id
    fake.recover()
    with later(6):
        embed_all()
    assert (state(memories[4]), waiting()) == ("embedded", [])
    with tenant(cast.account.id):
        assert not EmbeddingFailure.objects.exists()


def test_a_text_that_keeps_failing_is_tried_less_and_less_often(
    cast: Cast, fake: FakeServer, model: EmbeddingModel
) -> None:
    write(cast.agent, cast.space, BAD)
    fake.behave = refusing(fake, 400)
    waits = []
    for _ in range(6):
        [job] = waiting()
        with time_machine.travel(job.run_after, tick=False):
            embed_all()
            waits.append((waiting()[0].run_after - timezone.now()).total_seconds())
    assert waits == [5, 30, 300, 3600, 21600, 21600]


def test_an_edit_of_a_text_that_failed_gives_it_another_chance_at_once(
    cast: Cast, fake: FakeServer, model: EmbeddingModel
) -> None:
    [memory] = write(cast.agent, cast.space, BAD)
    fake.behave = refusing(fake, 400)
    embed_all()
    edit(memory, text="Good now")
    assert state(memory) == "pending"
    embed_all()
    assert state(memory) == "embedded"
    with later(10):
        embed_all()
    assert (waiting(), len(chunks(memory))) == ([], 1)


# Canaries


@pytest.mark.parametrize(("field", "value"), [("salt", "another model"), ("dimensions", 256)])
def test_a_model_that_answers_otherwise_than_before_is_used_no_more(
    cast: Cast,
    fake: FakeServer,
    model: EmbeddingModel,
    caplog: pytest.LogCaptureFixture,
    field: str,
    value: object,
) -> None:
    [memory] = write(cast.agent, cast.space, "From before")
    embed_all()
    setattr(fake, field, value)
    with later(3601), caplog.at_level(logging.ERROR):
        check_models()
        forget()
        assert embed_query("anything").vector is None
        [later_one] = write(cast.agent, cast.space, "From after")
        embed_all()
        assert (state(memory), state(later_one)) == ("embedded", "pending")
    assert EmbeddingModel.objects.get().trouble in (Trouble.DRIFT, Trouble.ANSWER)
    assert "Search is by words alone" in caplog.text


def test_a_model_that_drifted_and_came_back_serves_again(
    cast: Cast, fake: FakeServer, model: EmbeddingModel
) -> None:
    fake.salt = "another"
    with later(3601):
        check_models()
    fake.salt = ""
    with later(3700):
        check_models()
    assert EmbeddingModel.objects.get().trouble == ""


def test_a_server_without_the_model_is_not_adopted(settings: Settings, db: None, fake: FakeServer) -> None:
    fake.model = "renamed"
    with pytest.raises(EmbeddingError) as caught:
        adopt_configured()
    assert caught.value.trouble is Trouble.REFUSED
    assert not EmbeddingModel.objects.exists()


def test_the_key_goes_to_its_own_server_alone(settings: Settings, cast: Cast, fake: FakeServer) -> None:
    from spaces.domain.embeddings.configured import client_of

    fake.api_key = "key-of-the-first"
    configure(settings, fake)
    model = adopt_configured()
    assert model
    settings.EMBEDDING_URL = "http://127.0.0.1:9/v1"
    settings.EMBEDDING_API_KEY = "key-of-the-second"
    assert client_of(model).api_key == ""
    settings.EMBEDDING_PREVIOUS_API_KEY = "key-of-the-first"
    assert client_of(model).embed(["text"], "passage")
    assert "key-of" not in repr(client_of(model))
