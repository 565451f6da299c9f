"""A server that has the last word on what a search finds, and what it costs when it fails: nothing but a note."""

import threading
import time
from collections.abc import Callable, Iterator

import pytest
from django.db import connection
from pytest_django import Settings

from memoryhub.common.tenancy import tenant
from memoryhub.operations.hub.memories import recall, remember
from spaces.domain import reranking
from spaces.embedding.client import Patience
from spaces.models import Memory
from spaces.reranking import client
from tests.conftest import Cast
from tests.database import other_sessions
from tests.embeddings import Answer
from tests.rerankers import FakeReranker
from tests.rerankers import reranking as serving

pytestmark = pytest.mark.django_db
Failing = Callable[[FakeReranker], object]

PLAIN = ["crane", "crane zz", "crane z", "crane zzz"]
BEST = ["crane zzz", "crane zz", "crane z", "crane"]


@pytest.fixture(params=["", "rerank-v3.5"], ids=["in TEI's form", "in Cohere's form"])
def fake(request: pytest.FixtureRequest, settings: Settings) -> Iterator[FakeReranker]:
    with serving(model=request.param, api_key="secret-of-the-server") as server:
        settings.RERANK_URL, settings.RERANK_MODEL = server.url, server.model
        settings.RERANK_API_KEY = server.api_key
        reranking.forget()
        yield server
    reranking.forget()


@pytest.fixture
def knowing(cast: Cast) -> Cast:
    for text in PLAIN:
        remember(cast.agent, {"text": text})
    return cast


def texts(cast: Cast, **options: object) -> list[str]:
    return [item["text"] for item in recall(cast.agent, {"q": "crane", **options})["items"]]


def warnings(cast: Cast) -> list[str]:
    return list(recall(cast.agent, {"q": "crane"}).get("warnings", []))


def test_the_server_has_the_last_word_on_the_order(knowing: Cast, fake: FakeReranker) -> None:
    assert texts(knowing) == BEST
    assert warnings(knowing) == []


def test_what_it_likes_comes_in_from_below_the_limit(knowing: Cast, fake: FakeReranker) -> None:
    assert texts(knowing, limit=2) == BEST[:2]
    assert len(fake.asked[-1]) == 4


def test_it_is_not_asked_about_nothing_or_about_one(cast: Cast, fake: FakeReranker) -> None:
    assert texts(cast) == []
    remember(cast.agent, {"text": "crane"})
    assert texts(cast) == ["crane"]
    assert [item["text"] for item in recall(cast.agent, {})["items"]] == ["crane"]
    assert fake.asked == []


def test_only_what_is_told_counts_as_recalled(knowing: Cast, fake: FakeReranker) -> None:
    texts(knowing, limit=1)
    with tenant(knowing.account.id):
        assert list(Memory.objects.filter(recall_count=1).values_list("text", flat=True)) == ["crane zzz"]


FAILURES: dict[str, Failing] = {
    "is broken": lambda fake: fake.fail(500),
    "is overloaded": lambda fake: fake.fail(429),
    "has no credit": lambda fake: fake.fail(402),
    "does not take the texts": lambda fake: fake.fail(413),
    "knows the key no more": lambda fake: setattr(fake, "api_key", "another"),
    "talks nonsense": lambda fake: setattr(fake, "behave", lambda texts: Answer(body=b"<html>")),
    "has another form": lambda fake: setattr(fake, "behave", lambda texts: Answer(body={"data": []})),
    "forgets one": lambda fake: setattr(fake, "behave", lambda texts: Answer(body=fake.right(texts[1:]))),
    "scores with NaN": lambda fake: setattr(
        fake,
        "behave",
        lambda texts: Answer(
            body=b'[{"index":0,"score":NaN},{"index":1,"score":1},{"index":2,"score":1},{"index":3,"score":1}]'
        ),
    ),
    "scores with nothing": lambda fake: setattr(
        fake, "behave", lambda texts: Answer(body=[{"index": i} for i in range(len(texts))])
    ),
}


@pytest.mark.parametrize("failing", FAILURES.values(), ids=FAILURES)
def test_one_that_fails_leaves_the_order_as_it_was_and_says_so(
    knowing: Cast, fake: FakeReranker, settings: Settings, failing: Failing
) -> None:
    url, settings.RERANK_URL = settings.RERANK_URL, ""
    as_found = texts(knowing)
    settings.RERANK_URL = url
    key = fake.api_key
    failing(fake)
    assert texts(knowing) == as_found
    [note] = warnings(knowing)
    assert note.startswith("The order is the hub's own: The reranking server")
    assert "crane" not in note
    fake.recover()
    fake.api_key = key
    reranking._pause.until = 0.0
    assert texts(knowing) == BEST
    assert warnings(knowing) == []


def test_one_that_fails_is_left_alone_for_a_while(knowing: Cast, fake: FakeReranker) -> None:
    fake.fail(500)
    for _ in range(5):
        texts(knowing)
    assert len(fake.asked) == 1


def test_one_that_hangs_is_given_up_in_time(
    knowing: Cast, fake: FakeReranker, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(client, "PATIENCE", Patience(0.5, 0.2))
    go_on = threading.Event()
    fake.behave = lambda texts: (go_on.wait(5), None)[1]
    began = time.monotonic()
    assert sorted(texts(knowing)) == sorted(PLAIN)
    assert time.monotonic() - began < 3
    assert warnings(knowing) == ["The order is the hub's own: The reranking server did not answer in time."]
    go_on.set()


@pytest.mark.parametrize("url", ["http://127.0.0.1:9/rerank", "not an address"])
def test_one_that_is_not_there_leaves_everything_as_it_was(
    knowing: Cast, fake: FakeReranker, settings: Settings, url: str
) -> None:
    settings.RERANK_URL = url
    assert sorted(texts(knowing)) == sorted(PLAIN)
    assert len(warnings(knowing)) == 1


def test_the_key_is_never_shown() -> None:
    assert "secret" not in repr(client.Reranker("http://here", api_key="secret"))


@pytest.mark.django_db(transaction=True)
def test_no_connection_is_held_while_it_reads(knowing: Cast, fake: FakeReranker) -> None:
    seen: list[int] = []

    def look(texts: list[str]) -> None:
        seen.append(other_sessions())
        connection.close()

    fake.behave = look
    before = other_sessions()
    assert texts(knowing) == BEST
    assert seen == [before]
