"""Search by meaning, while texts change, models change and the server that embeds fails."""

from collections.abc import Callable, Iterator

import pytest
from pytest_django import Settings

import spaces.tasks  # noqa: F401 (what jobs of the main lane run)
from spaces.domain.embeddings.adopting import adopt_configured
from spaces.domain.embeddings.changing import finish_change
from spaces.domain.embeddings.health import check_models
from spaces.domain.embeddings.working import embed_batch
from spaces.embedding import client
from spaces.embedding.client import Patience
from spaces.models import EmbeddingModel
from tests.calls import as_owner
from tests.cases.hub import Agent
from tests.embeddings import FakeServer, serving
from tests.inprocess import apart
from tests.spaces.domain.embeddings.conftest import configure, forget


@pytest.fixture
def fake(agent: Agent, settings: Settings) -> Iterator[FakeServer]:
    """A server that embeds, in use, and nothing for it to do. Nothing of it is left for other tests."""
    as_owner("truncate spaces_memory cascade")  # what other tests remembered would be embedded each time
    with serving() as server:
        configure(settings, server)
        apart(adopt_configured)
        work()
        yield server
    apart(lambda: EmbeddingModel.objects.wanted().update(state="retired"))
    forget()


def work() -> None:
    """What a worker does until nothing is left."""

    def until_done() -> None:
        while embed_batch():
            pass
        finish_change()

    apart(until_done)
    forget()


def look_again() -> None:
    def due() -> None:
        EmbeddingModel.objects.wanted().update(check_at="2000-01-01T00:00Z")
        check_models()

    apart(due)
    work()


def found(agent: Agent, query: str) -> list[str]:
    return [item["text"] for item in agent("recall", q=query)["items"]]


def embedding(agent: Agent, id: str) -> str:
    told: str = agent.having(wire="rest")("memory_get", id=id)["embedding"]
    return told


def test_after_an_edit_the_new_meaning_is_found_and_the_old_one_no_more(
    agent: Agent, fake: FakeServer
) -> None:
    stored = agent("remember", text="Office dog is called Biscuit")["memory"]
    agent("remember", text="On Sundays the cat sleeps all day in the sun")
    work()
    assert found(agent, "pet name")[0] == "Office dog is called Biscuit"
    new = "Database failover takes 40 seconds"
    agent.having(wire="rest")("memory_update", id=stored["id"], text=new)
    assert embedding(agent, stored["id"]) == "pending"
    assert found(agent, "pet name") == ["On Sundays the cat sleeps all day in the sun"]
    assert found(agent, "failover")[0] == new
    work()
    assert embedding(agent, stored["id"]) == "embedded"
    assert found(agent, "how long is switching to the standby")[0] == new
    assert found(agent, "pet name")[0] == "On Sundays the cat sleeps all day in the sun"


@pytest.mark.parametrize("size", [768, 384], ids=["of another size", "of the same size"])
def test_while_the_model_changes_everything_goes_on(
    agent: Agent, fake: FakeServer, settings: Settings, size: int
) -> None:
    shelves = [{"text": f"Shelf {i} holds box {i}"} for i in range(100)]
    assert agent.having(wire="rest")("memory_batch", items=shelves)["created"] == 100
    dog = agent("remember", text="The dog barks")["memory"]
    gone = agent("remember", text="To be forgotten")["memory"]
    work()
    with serving(dimensions=size, model="other-model", salt="other") as other:
        configure(settings, other)
        apart(adopt_configured)
        apart(embed_batch)
        cat = agent("remember", text="The cat sleeps")["memory"]
        agent.having(wire="rest")("memory_update", id=dog["id"], text="The dog is called Biscuit")
        assert agent("forget", ids=[gone["id"]], dry_run=False)["deleted"] == {"memories": 1}
        assert found(agent, "Biscuit")[0] == "The dog is called Biscuit"
        work()
        assert sorted(found(agent, "pet name")[:2]) == ["The cat sleeps", "The dog is called Biscuit"]
        assert {embedding(agent, memory["id"]) for memory in (dog, cat)} == {"embedded"}
        configure(settings, fake)
        apart(adopt_configured)
        work()
        assert sorted(found(agent, "pet name")[:2]) == ["The cat sleeps", "The dog is called Biscuit"]
    names = EmbeddingModel.objects.wanted().values_list("name", "state")
    assert apart(lambda: list(names)) == [("fake-model", "active")]


def hang(server: FakeServer) -> None:
    import threading

    threading.Timer(5, (over := threading.Event()).set).start()
    server.behave = lambda texts: (over.wait(5), None)[1]


FAILING: dict[str, Callable[[FakeServer], None]] = {
    "refuses": lambda server: server.stop(),
    "hangs": hang,
    "is overloaded": lambda server: server.fail(429),
    "has no credit": lambda server: server.fail(402),
    "answers no numbers": lambda server: setattr(
        server,
        "behave",
        lambda texts: server.right(texts, **{f"item_{i}": [float("nan")] * 384 for i in range(len(texts))}),
    ),
}


@pytest.mark.parametrize("fail", FAILING.values(), ids=FAILING)
def test_while_the_server_fails_writes_are_found_by_words_and_later_by_meaning(
    agent: Agent, fake: FakeServer, fail: Callable[[FakeServer], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    for kind in ("query", "passage"):
        monkeypatch.setitem(client.PATIENCE, kind, Patience(0.5, 0.3))
    fail(fake)
    ids = [agent("remember", text=f"The dog knows trick {i}")["memory"]["id"] for i in range(20)]
    work()
    assert {embedding(agent, id) for id in ids} == {"pending"}
    answer = agent("recall", q="trick 7")
    assert answer["items"][0]["text"] == "The dog knows trick 7"
    assert answer["search"] == "words"
    assert "Search is by words alone for now" in answer["warnings"][0]
    fake.recover()
    if fake._server is None:
        fake.start()
    look_again()
    assert {embedding(agent, id) for id in ids} == {"embedded"}
    answer = agent("recall", q="pet")
    assert (answer["search"], len(answer["items"]), answer.body.get("warnings", [])) == ("hybrid", 20, [])


@pytest.mark.parametrize("text", ["", "   ", "\u200b"])
def test_blank_text_is_refused_before_anything_embeds_it(agent: Agent, fake: FakeServer, text: str) -> None:
    before = len(fake.asked)
    assert agent("remember", text=text).code == "validation_failed"
    work()
    assert len(fake.asked) == before


def test_a_text_of_emoji_alone_is_embedded(agent: Agent, fake: FakeServer) -> None:
    stored = agent("remember", text="👍🎉")["memory"]
    work()
    assert embedding(agent, stored["id"]) == "embedded"
