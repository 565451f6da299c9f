"""The client against a server that checks what it is asked and fails as told."""

import base64
import gc
import threading
from collections.abc import Iterator

import numpy as np
import pytest

from spaces.embedding.base import EmbeddingError, Trouble
from spaces.embedding.client import Client, Patience
from spaces.embedding.default import DEFAULT_MODEL
from spaces.embedding.spec import ModelSpec
from tests.embeddings import Answer, FakeServer, serving, vector_of

SPEC = ModelSpec("fake-model", 384, query_prefix="query: ", passage_prefix="passage: ")


@pytest.fixture
def server() -> Iterator[FakeServer]:
    with serving() as fake:
        yield fake


def client(server: FakeServer, **changed: object) -> Client:
    fields = {"url": server.url, "spec": SPEC, "patience": Patience(0.5, 0.5), **changed}
    return Client(**fields)  # type: ignore[arg-type]


def error_of(asking: Client, texts: tuple[str, ...] = ("a text",)) -> EmbeddingError:
    with pytest.raises(EmbeddingError) as caught:
        asking.embed(list(texts), "passage")
    return caught.value


def test_texts_become_vectors_in_their_order_whatever_the_order_of_the_answer(server: FakeServer) -> None:
    texts = ["alpha", "beta", "gamma"]
    found = client(server).embed(texts, "passage")
    expected = [np.array(vector_of(f"passage: {text}", 384), np.float32) for text in texts]
    assert np.allclose(found, expected, atol=1e-6)


def test_each_kind_has_its_prefix(server: FakeServer) -> None:
    client(server).embed(["x"], "query")
    client(server).embed(["x"], "passage")
    assert server.asked == [["query: x"], ["passage: x"]]


def test_vectors_come_out_with_length_one(server: FakeServer) -> None:
    server.behave = lambda texts: server.right(texts, item_0=[3.0] * 384)
    [vector] = client(server).embed(["x"], "query")
    assert float(np.linalg.norm(vector)) == pytest.approx(1)


def test_the_key_is_sent_and_never_shown(server: FakeServer) -> None:
    server.api_key = "secret-of-the-server"
    asking = client(server, api_key="secret-of-the-server")
    assert asking.embed(["x"], "query")
    assert "secret" not in repr(asking)
    error = error_of(client(server, api_key="another-secret"))
    assert (error.trouble, "secret" in error.message) == (Trouble.REFUSED, False)


def test_fewer_dimensions_are_asked_for_where_configured(server: FakeServer) -> None:
    asked: list[object] = []
    check = server.check

    def note(path: str, headers: object, body: dict[str, object]) -> Answer | None:
        asked.append(body.get("dimensions"))
        return check(path, headers, body)

    server.check = note  # type: ignore[method-assign]
    client(server).embed(["x"], "query")
    client(server, ask_dimensions=384).embed(["x"], "query")
    assert asked == [None, 384]


def test_the_default_model_is_asked_for_packed_vectors_and_both_forms_are_read(server: FakeServer) -> None:
    packed = base64.b64encode(np.full(384, 0.5, "<f4").tobytes()).decode()
    server.behave = lambda texts: server.right(texts, item_0=packed)
    [vector] = client(server).embed(["x"], "query")
    assert vector[0] == pytest.approx(384**-0.5)


@pytest.mark.parametrize(
    ("status", "code", "trouble"),
    [
        (400, "", Trouble.ANSWER),
        (401, "invalid_api_key", Trouble.REFUSED),
        (402, "", Trouble.REFUSED),
        (403, "", Trouble.REFUSED),
        (404, "model_not_found", Trouble.REFUSED),
        (408, "", Trouble.UNAVAILABLE),
        (413, "", Trouble.ANSWER),
        (422, "", Trouble.ANSWER),
        (424, "", Trouble.UNAVAILABLE),
        (429, "rate_limit_exceeded", Trouble.UNAVAILABLE),
        (429, "insufficient_quota", Trouble.REFUSED),
        (500, "", Trouble.UNAVAILABLE),
        (503, "preparing", Trouble.PREPARING),
        (503, "", Trouble.UNAVAILABLE),
        (302, "", Trouble.UNAVAILABLE),
    ],
)
def test_each_refusal_means_what_can_be_done_about_it(
    server: FakeServer, status: int, code: str, trouble: Trouble
) -> None:
    server.fail(status, code)
    assert error_of(client(server)).trouble is trouble


def test_what_a_server_says_of_a_text_is_not_repeated(server: FakeServer) -> None:
    body = {"error": {"code": "x\ninjected", "message": "cannot embed 'a text'"}}
    server.behave = lambda texts: Answer(400, body)
    assert error_of(client(server)).message == "The embedding server answered 400."


@pytest.mark.parametrize(
    ("header", "seconds"),
    [("7", 7.0), ("0.5", 0.5), ("999999", 3600.0), ("soon", None), ("-1", None), ("nan", None)],
)
def test_a_wait_that_the_server_asks_for_is_told(
    server: FakeServer, header: str, seconds: float | None
) -> None:
    server.fail(429, retry_after=header)
    assert error_of(client(server)).retry_after == seconds


def test_a_server_that_hangs_is_given_up_in_time(server: FakeServer) -> None:
    go_on = threading.Event()
    server.behave = lambda texts: (go_on.wait(5), None)[1]
    error = error_of(client(server, patience=Patience(0.2, 0.2)))
    go_on.set()
    assert (error.trouble, error.message) == (
        Trouble.UNAVAILABLE,
        "The embedding server did not answer in time.",
    )


@pytest.mark.filterwarnings("ignore::ResourceWarning")  # the library leaves a socket that could not connect
@pytest.mark.parametrize(
    "url", ["http://127.0.0.1:1/v1", "http+unix://%2Fnowhere%2Fat.sock/v1", "http://does-not.invalid/v1"]
)
def test_a_server_that_is_not_there_is_unavailable(server: FakeServer, url: str) -> None:
    assert error_of(client(server, url=url)).trouble is Trouble.UNAVAILABLE
    gc.collect()


@pytest.mark.parametrize("url", ["nonsense", "ftp://example.com/v1", "http://[::1"])
def test_an_address_that_is_none_is_for_a_person_to_put_right(server: FakeServer, url: str) -> None:
    assert error_of(client(server, url=url)).trouble is Trouble.REFUSED


BAD_BODIES = {
    "not JSON": b"<html>",
    "not text": b"\xff\xfe",
    "null": None,
    "a list": [],
    "no data": {"data": None},
    "no vectors": {"data": [{"index": 0}]},
    "odd index": {"data": [{"index": "one", "embedding": [1.0]}]},
    "none": {"data": []},
    "too many": {"data": [{"index": i, "embedding": [0.1] * 384} for i in range(2)]},
    "the same twice": {"data": [{"index": 0, "embedding": [0.1] * 384}] * 2},
    "another place": {"data": [{"index": 1, "embedding": [0.1] * 384}]},
}


@pytest.mark.parametrize("body", BAD_BODIES.values(), ids=BAD_BODIES)
def test_an_answer_of_another_form_is_no_use(server: FakeServer, body: object) -> None:
    server.behave = lambda texts: Answer(body=body)
    assert error_of(client(server)).trouble is Trouble.ANSWER


BAD_VECTORS = {
    "too short": [0.1] * 383,
    "empty": [],
    "nested": [[0.1] * 384],
    "not a number": [float("nan")] * 384,
    "infinite": [1e400] * 384,
    "all zero": [0.0] * 384,
    "null": None,
    "text": "not base64!",
    "null inside": [None] * 384,
    "a map": {"a": 1},
}


@pytest.mark.parametrize("vector", BAD_VECTORS.values(), ids=BAD_VECTORS)
def test_one_bad_vector_stands_in_its_place_and_the_others_are_kept(
    server: FakeServer, vector: object
) -> None:
    server.behave = lambda texts: server.right(texts, item_1=vector)
    found = client(server).embed_each(["a", "b", "c"], "passage")
    assert [isinstance(item, EmbeddingError) for item in found] == [False, True, False]
    assert error_of(client(server), ("a", "b")).trouble is Trouble.ANSWER


def test_one_refused_text_is_found_among_many_and_the_others_are_kept(server: FakeServer) -> None:
    server.behave = lambda texts: Answer(400, {}) if any("bad" in text for text in texts) else None
    texts = [f"good {i}" for i in range(32)]
    texts[13] = "bad"
    found = client(server).embed_each(texts, "passage")
    assert [i for i, item in enumerate(found) if isinstance(item, EmbeddingError)] == [13]
    assert len(server.asked) <= 11


def test_what_fails_for_all_is_raised(server: FakeServer) -> None:
    server.fail(500)
    with pytest.raises(EmbeddingError):
        client(server).embed_each(["a", "b"], "passage")
    assert len(server.asked) == 1


def test_any_size_is_taken_while_it_is_not_known(server: FakeServer) -> None:
    server.dimensions = 10
    [vector] = client(server, spec=ModelSpec("fake-model")).embed(["x"], "query")
    assert len(vector) == 10


def test_the_default_models_name_and_prefixes_are_what_it_was_trained_with() -> None:
    assert (DEFAULT_MODEL.prefix("query"), DEFAULT_MODEL.prefix("passage")) == ("query: ", "passage: ")
