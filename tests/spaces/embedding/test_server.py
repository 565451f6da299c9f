"""The embedder's interface, over ASGI, with an engine whose vectors are the lengths of the texts."""

import asyncio
import base64
import threading
from collections.abc import Callable
from typing import Any

import httpx2
import numpy as np
import pytest

from spaces.embedding.base import Vector
from spaces.embedding.crew import Crew
from spaces.embedding.engine import Engine, engines
from spaces.embedding.server import MOST_TEXTS, build_server
from spaces.embedding.weights import BadWeights


def encode(text: str) -> Vector:
    return np.array([len(text), 1.0], np.float32)


def ready(load: Callable[..., Any] = lambda report: encode, name: str = "lengths") -> Engine:
    engine = Engine(name, load, threads=2)
    engine.start()
    for _ in range(1000):
        if engine.status["state"] != "preparing":
            break
        threading.Event().wait(0.005)
    return engine


async def ask(app: Any, method: str, path: str, **request: Any) -> httpx2.Response:
    transport = httpx2.ASGITransport(app=app)
    async with httpx2.AsyncClient(transport=transport, base_url="http://embedder") as client:
        return await client.request(method, path, **request)


def post(app: Any, body: Any) -> httpx2.Response:
    return asyncio.run(ask(app, "POST", "/v1/embeddings", json=body))


def test_texts_become_vectors_in_the_form_of_the_interface() -> None:
    answer = post(build_server([ready()]), {"model": "lengths", "input": ["a", "bb"]})
    assert answer.status_code == 200
    assert answer.json() == {
        "object": "list",
        "model": "lengths",
        "data": [
            {"object": "embedding", "index": 0, "embedding": [1.0, 1.0]},
            {"object": "embedding", "index": 1, "embedding": [2.0, 1.0]},
        ],
        "usage": {"prompt_tokens": 0, "total_tokens": 0},
    }


def test_a_single_text_needs_no_list_and_vectors_may_be_packed() -> None:
    body = {"model": "lengths", "input": "abc", "encoding_format": "base64"}
    item = post(build_server([ready()]), body).json()["data"][0]["embedding"]
    assert np.frombuffer(base64.b64decode(item), "<f4").tolist() == [3.0, 1.0]


@pytest.mark.parametrize(
    "body",
    [
        {},
        [],
        None,
        "text",
        {"model": "lengths", "input": 3},
        {"model": "lengths", "input": []},
        {"model": "lengths", "input": [""]},
        {"model": "lengths", "input": ["x", "  "]},
        {"model": "lengths", "input": [[1, 2]]},
        {"model": "lengths", "input": ["x"] * (MOST_TEXTS + 1)},
        {"model": "lengths", "input": "x", "encoding_format": "hex"},
    ],
)
def test_what_is_not_asked_properly_is_refused(body: Any) -> None:
    answer = post(build_server([ready()]), body)
    assert (answer.status_code, answer.json()["error"]["code"].startswith("invalid")) == (400, True)


@pytest.mark.parametrize("model", [None, "other", 3, ["lengths"], {}])
def test_another_model_is_not_found(model: Any) -> None:
    answer = post(build_server([ready()]), {"model": model, "input": "x"})
    assert (answer.status_code, answer.json()["error"]["code"]) == (404, "model_not_found")


def test_a_body_that_is_not_json_or_too_large_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    app = build_server([ready()])
    assert asyncio.run(ask(app, "POST", "/v1/embeddings", content=b"{")).status_code == 400
    monkeypatch.setattr("spaces.embedding.server.MOST_BYTES", 10)
    assert asyncio.run(ask(app, "POST", "/v1/embeddings", content=b"x" * 11)).status_code == 413


def test_where_there_is_a_key_it_must_be_known() -> None:
    app = build_server([ready()], api_key="embedders-key")
    for header, status in {"": 401, "Bearer other": 401, "Bearer embedders-key": 200}.items():
        headers = {"Authorization": header} if header else {}
        asked = ask(app, "POST", "/v1/embeddings", json={"model": "lengths", "input": "x"}, headers=headers)
        assert asyncio.run(asked).status_code == status


def test_other_addresses_are_not_there() -> None:
    app = build_server([ready()])
    assert asyncio.run(ask(app, "GET", "/v1/embeddings")).status_code == 404
    assert asyncio.run(ask(app, "GET", "/")).status_code == 404


def test_the_models_and_their_state_are_told() -> None:
    app = build_server([ready()])
    assert asyncio.run(ask(app, "GET", "/v1/models")).json()["data"] == [{"id": "lengths", "object": "model"}]
    [told] = asyncio.run(ask(app, "GET", "/healthz")).json()["models"]
    assert (told["model"], told["state"]) == ("lengths", "ready")


def test_while_the_model_is_being_built_the_answer_says_how_far_it_is() -> None:
    go_on = threading.Event()

    def load(report: Callable[[float, str], None]) -> Any:
        report(0.4, "Writing the words")
        go_on.wait(10)
        return encode

    engine = Engine("lengths", load, threads=1)
    app = build_server([engine])
    post(app, {"model": "lengths", "input": "x"})  # the first to ask starts it
    for _ in range(1000):
        answer = post(app, {"model": "lengths", "input": "x"})
        if "Writing" in answer.text:
            break
    go_on.set()
    assert (answer.status_code, answer.headers["retry-after"]) == (503, "1")
    assert answer.json()["error"] == {
        "code": "preparing",
        "type": "preparing",
        "message": "Writing the words (40%)",
    }


@pytest.mark.parametrize("fault", [BadWeights("no weights"), OSError("disk full"), ImportError("no library")])
def test_a_model_that_cannot_be_had_is_told_and_not_waited_for(
    fault: Exception, caplog: pytest.LogCaptureFixture
) -> None:
    def load(report: object) -> Any:
        raise fault

    answer = post(build_server([ready(load)]), {"model": "lengths", "input": "x"})
    assert (answer.status_code, answer.json()["error"]["code"]) == (503, "no_model")
    assert str(fault) in answer.json()["error"]["message"]
    assert "cannot be used" in caplog.text


def test_a_text_that_cannot_be_encoded_fails_its_request_alone() -> None:
    def failing(text: str) -> Vector:
        if text == "bad":
            raise ValueError("cannot")
        return encode(text)

    app = build_server([ready(lambda report: failing)])
    assert post(app, {"model": "lengths", "input": "bad"}).status_code == 500
    assert post(app, {"model": "lengths", "input": "good"}).status_code == 200


def test_two_models_are_served_by_their_names() -> None:
    other = ready(lambda report: lambda text: np.zeros(3, np.float32), "zeros")
    app = build_server([ready(), other])
    assert len(post(app, {"model": "zeros", "input": "x"}).json()["data"][0]["embedding"]) == 3
    assert len(post(app, {"model": "lengths", "input": "x"}).json()["data"][0]["embedding"]) == 2


def test_the_hubs_own_model_is_always_there_beside_one_by_name(tmp_path: Any) -> None:
    assert [e.name for e in engines("", tmp_path, 1)] == ["multilingual-e5-small"]
    assert [e.name for e in engines("fastembed:BAAI/bge-base-en-v1.5", tmp_path, 1)] == [
        "BAAI/bge-base-en-v1.5",
        "multilingual-e5-small",
    ]


# The threads behind it


def test_a_question_does_not_wait_behind_a_batch() -> None:
    order: list[str] = []
    go_on, begun = threading.Event(), threading.Event()

    def note(text: str) -> Vector:
        begun.set()
        go_on.wait(10)
        order.append(text)
        return encode(text)

    crew = Crew(note, 1)
    batch = crew.submit(["first", "second", "third"])
    begun.wait(10)
    question = crew.submit(["question"])
    go_on.set()
    for future in [*batch, *question]:
        future.result(10)
    assert order == ["first", "question", "second", "third"]


def test_nobody_computes_for_a_caller_who_has_left() -> None:
    done: list[str] = []
    go_on, begun = threading.Event(), threading.Event()

    def slow(text: str) -> Vector:
        begun.set()
        go_on.wait(10)
        done.append(text)
        return encode(text)

    app = build_server([ready(lambda report: slow)])
    body = b'{"model": "lengths", "input": ["a", "b", "c", "d", "e", "f"]}'

    async def leave() -> None:
        messages = [{"type": "http.request", "body": body}, {"type": "http.disconnect"}]

        async def receive() -> Any:
            if len(messages) == 1:
                await asyncio.to_thread(begun.wait, 10)
            return messages.pop(0)

        async def send(message: Any) -> None:
            pass

        scope = {"type": "http", "method": "POST", "path": "/v1/embeddings", "headers": []}
        await app(scope, receive, send)

    asyncio.run(leave())
    go_on.set()
    post(app, {"model": "lengths", "input": "later"})
    assert set(done) <= {"a", "b", "later"}
