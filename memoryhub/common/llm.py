"""A language model behind a server with the OpenAI interface for chat: OpenAI's, Ollama, vLLM, llama.cpp…

What it answers are a model's words: nobody said them, and they are trusted no further than who asked.
"""

import json
import os
import re
import time
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cache
from typing import Any

import httpx2
from django.conf import settings

from memoryhub.common.threads import let_go

BIGGEST_ANSWER = 4 * 1024 * 1024
CONNECT_SECONDS = 3.0
LONGEST_PAUSE = 3600.0
# What only a person can put right: the key, the bill, the address, the name of the model.
HOPELESS = {401, 402, 403, 404, 405, 410}
NOT_SO = {400, 413, 422}
NO_ADDRESS = (httpx2.InvalidURL, httpx2.UnsupportedProtocol, ValueError)
FENCED = re.compile(r"\s*```(?:json)?\s*\n(.*)\n\s*```\s*", re.DOTALL)

COUNTED = ("prompt_tokens", "completion_tokens")

Schema = dict[str, Any]


class Trouble(StrEnum):
    """Why there is no answer, by what can be done about it."""

    UNAVAILABLE = "unavailable"
    """None, too late, overloaded or broken: try again later."""
    REFUSED = "refused"
    """A bad credential, no credit, an unknown model: trying again changes nothing until a person does."""
    ANSWER = "answer"
    """The question was refused, or the answer is no use."""


class ModelError(Exception):
    """`message` may be shown to people: it has nothing of what was asked or answered, and no credential."""

    def __init__(self, trouble: Trouble, message: str, *, retry_after: float | None = None) -> None:
        super().__init__(message)
        self.trouble = trouble
        self.message = message
        self.retry_after = retry_after


@dataclass(frozen=True)
class LanguageModel:
    """`url` is the interface's base (…/v1); `seconds` are for a whole answer."""

    url: str
    name: str
    api_key: str = field(default="", repr=False)
    seconds: float = 60.0

    def ask(self, instructions: str, text: str, *, longest: int = 1000, schema: Schema | None = None) -> str:
        """The model's answer to `text`, in at most `longest` tokens; with a `schema`, JSON if it can."""
        return self.answer(instructions, text, longest=longest, schema=schema).text

    def answer(
        self, instructions: str, text: str, *, longest: int = 1000, schema: Schema | None = None
    ) -> "Answer":
        """The same, with what it cost.

        Raises ModelError. Not to be called inside a transaction; the thread's connection is given back first.
        """
        let_go()
        messages = [{"role": "system", "content": instructions}, {"role": "user", "content": text}]
        bare = {"model": self.name, "messages": messages, "stream": False}
        wishes: dict[str, Any] = {"max_tokens": longest, "temperature": 0}
        if schema is not None:
            wishes["response_format"] = in_form(schema)
        try:
            return answered(self._post(bare | wishes))
        except _Refusal:
            # Servers and models differ in which of these they know, and some refuse what they don't.
            return answered(self._post(bare))

    def ask_json(self, instructions: str, text: str, *, longest: int = 4000, schema: Schema) -> Any:
        """The same as a JSON value. That it fits the schema is for the caller to check."""
        return self.answer_json(instructions, text, longest=longest, schema=schema)[1]

    def answer_json(
        self, instructions: str, text: str, *, longest: int = 4000, schema: Schema
    ) -> "tuple[Answer, Any]":
        """The same, with what it cost."""
        answer = self.answer(instructions, text, longest=longest, schema=schema)
        fenced = FENCED.fullmatch(answer.text)
        try:
            return answer, json.loads(fenced[1] if fenced else answer.text)
        except (ValueError, RecursionError):
            raise ModelError(Trouble.ANSWER, "The language model's answer is not JSON.") from None

    def _post(self, body: dict[str, Any]) -> Any:
        headers = {"Authorization": f"Bearer {self.api_key}"} if self.api_key else {}
        timeout = httpx2.Timeout(self.seconds, connect=CONNECT_SECONDS)
        address = f"{self.url}/chat/completions"
        try:
            with _client().stream("POST", address, json=body, headers=headers, timeout=timeout) as response:
                content = _read(response, self.seconds)
        except NO_ADDRESS:
            raise ModelError(Trouble.REFUSED, "LLM_URL is not an address.") from None
        except httpx2.TimeoutException:
            raise _late() from None
        except httpx2.HTTPError as error:
            raise ModelError(
                Trouble.UNAVAILABLE, f"The language model cannot be reached ({type(error).__name__})."
            ) from None
        if response.status_code != httpx2.codes.OK:
            raise refusal(response)
        return _json(content)


class _Refusal(ModelError):
    """This question was refused in this form."""


def language_model() -> LanguageModel | None:
    """The one that is configured."""
    if not settings.LLM_URL:
        return None
    return LanguageModel(settings.LLM_URL, settings.LLM_MODEL, settings.LLM_API_KEY, settings.LLM_SECONDS)


@dataclass(frozen=True)
class Answer:
    """What the model said, and the tokens that its server counted, where it tells."""

    text: str
    tokens_in: int | None = None
    tokens_out: int | None = None


def answered(answer: Any) -> Answer:
    text = said(answer)
    usage = answer.get("usage") if isinstance(answer, dict) else None
    told = usage if isinstance(usage, dict) else {}
    counts = [n if isinstance(n := told.get(name), int) and 0 <= n < 2**31 else None for name in COUNTED]
    return Answer(text, *counts)


def in_form(schema: Schema) -> dict[str, Any]:
    return {"type": "json_schema", "json_schema": {"name": "answer", "schema": schema}}


def said(answer: Any) -> str:
    """What the model said. An answer that was cut off is none: half of it may mean the opposite."""
    try:
        choice = answer["choices"][0]
        text, finished = choice["message"]["content"], choice.get("finish_reason")
    except (TypeError, KeyError, IndexError, AttributeError):
        raise ModelError(Trouble.ANSWER, "The language model's answer has another form.") from None
    if finished == "length":
        raise ModelError(Trouble.ANSWER, "The language model's answer was cut off.")
    if not isinstance(text, str) or not text.strip():
        raise ModelError(Trouble.ANSWER, "The language model answered nothing.")
    return text.strip()


def refusal(response: httpx2.Response) -> ModelError:
    """What an answer other than 200 means. Its text is not repeated: it may quote what was sent."""
    status = response.status_code
    told = f"The language model's server answered {status}."
    if status in HOPELESS:
        return ModelError(Trouble.REFUSED, told)
    if status in NOT_SO:
        return _Refusal(Trouble.ANSWER, told)
    return ModelError(Trouble.UNAVAILABLE, told, retry_after=_retry_after(response))


def _read(response: httpx2.Response, seconds: float) -> bytes:
    """The body, within the time and the size that are sensible; a server may also trickle."""
    deadline = time.monotonic() + seconds
    content = bytearray()
    for piece in response.iter_bytes():
        content += piece
        if len(content) > BIGGEST_ANSWER:
            raise ModelError(Trouble.ANSWER, "The language model's answer is too long.")
        if time.monotonic() > deadline:
            raise _late()
    return bytes(content)


def _late() -> ModelError:
    return ModelError(Trouble.UNAVAILABLE, "The language model did not answer in time.")


def _json(content: bytes) -> Any:
    try:
        return json.loads(content)
    except (ValueError, RecursionError):
        raise ModelError(
            Trouble.ANSWER, "The language model's server answered something else than JSON."
        ) from None


def _retry_after(response: httpx2.Response) -> float | None:
    try:
        seconds = float(response.headers.get("retry-after", ""))
    except ValueError:
        return None
    return min(seconds, LONGEST_PAUSE) if seconds > 0 else None


@cache
def _client() -> httpx2.Client:
    """Connections are kept and shared by the threads of a process. Redirects are not followed: they take keys along."""
    return httpx2.Client()


os.register_at_fork(after_in_child=_client.cache_clear)
