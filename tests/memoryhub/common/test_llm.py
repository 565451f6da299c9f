"""The client against a server that checks what it is asked and answers as told."""

import threading
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest
from django.db import connection
from pytest_django import Settings

from memoryhub.common.llm import LanguageModel, ModelError, Trouble, language_model
from tests.language_model import Answer, Asked, FakeModel, completion, serving_model

SCHEMA = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}


@pytest.fixture
def fake() -> Iterator[FakeModel]:
    with serving_model() as server:
        yield server


@pytest.fixture
def model(fake: FakeModel) -> LanguageModel:
    return LanguageModel(fake.url, "fake-model", seconds=5)


def error_of(model: LanguageModel) -> ModelError:
    with pytest.raises(ModelError) as caught:
        model.ask("Be brief.", "Who are you?")
    return caught.value


def test_a_question_goes_out_with_its_instructions_and_the_answer_comes_back(
    model: LanguageModel, fake: FakeModel
) -> None:
    fake.reply = lambda asked: f" {asked.instructions} {asked.text}\n"
    assert model.ask("Be brief.", "Who are you?", longest=7) == "Be brief. Who are you?"
    assert {n: fake.asked[0].body[n] for n in ("max_tokens", "temperature", "stream")} == {
        "max_tokens": 7,
        "temperature": 0,
        "stream": False,
    }


def test_the_form_of_an_answer_is_asked_for_and_its_json_read(model: LanguageModel, fake: FakeModel) -> None:
    fake.reply = lambda asked: '{"n": 1}'
    assert model.ask_json("Count.", "One.", schema=SCHEMA) == {"n": 1}
    form = fake.asked[0].body["response_format"]["json_schema"]
    assert form == {"name": "answer", "schema": SCHEMA}


def test_json_in_a_fence_is_read_and_json_among_prose_is_none(model: LanguageModel, fake: FakeModel) -> None:
    fake.reply = lambda asked: '```json\n{"n": 1}\n```'
    assert model.ask_json("Count.", "One.", schema=SCHEMA) == {"n": 1}
    fake.reply = lambda asked: 'Here it is: {"n": 1}'
    with pytest.raises(ModelError, match="not JSON"):
        model.ask_json("Count.", "One.", schema=SCHEMA)


def test_a_server_that_refuses_our_wishes_is_asked_without_them(
    model: LanguageModel, fake: FakeModel
) -> None:
    def picky(asked: Asked) -> str | Answer:
        return Answer(400, {"error": {}}) if "temperature" in asked.body else "Yes."

    fake.reply = picky
    assert model.ask("Be brief.", "Who are you?", schema=SCHEMA) == "Yes."
    assert fake.asked[1].body.keys() == {"model", "messages", "stream"}


@pytest.mark.parametrize(
    ("status", "trouble"),
    [
        (400, Trouble.ANSWER),
        (401, Trouble.REFUSED),
        (404, Trouble.REFUSED),
        (422, Trouble.ANSWER),
        (302, Trouble.UNAVAILABLE),
        (429, Trouble.UNAVAILABLE),
        (500, Trouble.UNAVAILABLE),
    ],
)
def test_each_refusal_means_what_can_be_done_about_it(
    model: LanguageModel, fake: FakeModel, status: int, trouble: Trouble
) -> None:
    fake.reply = lambda asked: Answer(
        status, {"error": {"message": "You asked: Who are you?"}}, {"Retry-After": "9"}
    )
    error = error_of(model)
    assert (error.trouble, error.message) == (trouble, f"The language model's server answered {status}.")
    assert error.retry_after == (9 if trouble is Trouble.UNAVAILABLE else None)


@pytest.mark.parametrize(
    "body",
    [
        b"no json",
        [],
        {"choices": []},
        {"choices": ["x"]},
        {"choices": [{"message": None}]},
        completion(None),
        completion("  "),
        completion("The first half of", "length"),
    ],
)
def test_an_answer_of_no_use_is_told_as_one(model: LanguageModel, fake: FakeModel, body: Any) -> None:
    fake.reply = lambda asked: Answer(body=body)
    assert error_of(model).trouble is Trouble.ANSWER


def test_a_model_that_does_not_answer_in_time_is_unavailable(model: LanguageModel, fake: FakeModel) -> None:
    asked_enough = threading.Event()

    def wait(asked: Asked) -> str:
        asked_enough.wait(10)
        return "Too late."

    fake.reply = wait
    error = error_of(replace(model, seconds=0.2))
    asked_enough.set()
    assert (error.trouble, error.message) == (
        Trouble.UNAVAILABLE,
        "The language model did not answer in time.",
    )


@pytest.mark.parametrize(
    ("url", "trouble"), [("http://127.0.0.1:9/v1", Trouble.UNAVAILABLE), ("nowhere", Trouble.REFUSED)]
)
def test_an_address_where_nobody_is_says_so(url: str, trouble: Trouble) -> None:
    assert error_of(LanguageModel(url, "fake-model")).trouble is trouble


def test_the_key_is_sent_and_never_shown(model: LanguageModel, fake: FakeModel) -> None:
    fake.api_key = "secret-of-the-server"
    assert replace(model, api_key="secret-of-the-server").ask("Be brief.", "Who?") == "Understood."
    wrong = replace(model, api_key="another-secret")
    assert "secret" not in f"{wrong!r} {error_of(wrong)}"


@pytest.mark.django_db(transaction=True)
def test_no_connection_is_held_while_the_model_thinks(model: LanguageModel, fake: FakeModel) -> None:
    connection.ensure_connection()
    ours, held = connection.connection, []

    def look(asked: Asked) -> str:
        held.append(ours.closed)
        return "Yes."

    fake.reply = look
    model.ask("Be brief.", "Who?")
    assert held == [True]


def test_there_is_a_model_where_one_is_configured(settings: Settings) -> None:
    assert language_model() is None
    settings.LLM_URL, settings.LLM_MODEL, settings.LLM_API_KEY = "http://x/v1", "m", "k"
    assert language_model() == LanguageModel("http://x/v1", "m", "k", 60)
