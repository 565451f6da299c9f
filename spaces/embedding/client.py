"""Speaks to a server with the OpenAI interface `/v1/embeddings`: ours, OpenAI's, TEI, Ollama, vLLM…"""

import base64
import json
import math
import os
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from operator import itemgetter
from typing import Any
from urllib.parse import unquote, urlsplit

import httpx2
import numpy as np

from spaces.embedding.base import EmbeddingError, Kind, Trouble, Vector, normalised
from spaces.embedding.default import DEFAULT_MODEL
from spaces.embedding.spec import ModelSpec

SERVER = "embedding server"
SOCKET_SCHEME = "http+unix"
BIGGEST_ANSWER = 64 * 1024 * 1024
LONGEST_PAUSE = 3600.0
# What only a person can put right: the key, the bill, the address, the name of the model.
HOPELESS = {401, 402, 403, 404, 405, 410}
NOT_THIS = {400, 413, 422}
NO_ADDRESS = (httpx2.InvalidURL, httpx2.UnsupportedProtocol, ValueError)


@dataclass(frozen=True)
class Patience:
    """Seconds: for a connection, and for the whole answer."""

    connect: float
    answer: float


HASTY = Patience(0.5, 2.0)
"""Somebody waits for the search."""
PATIENT = Patience(3.0, 20.0)
PATIENCE: dict[Kind, Patience] = {"query": HASTY, "passage": PATIENT}


@dataclass(frozen=True)
class Client:
    """`url` is the interface's base (…/v1); `http+unix://%2Fsome%2Fsocket/v1` is one behind a socket.

    `ask_dimensions` is sent along, for models that can answer shorter vectors.
    """

    url: str
    spec: ModelSpec
    api_key: str = field(default="", repr=False)
    ask_dimensions: int = 0
    patience: Patience | None = None

    def embed(self, texts: Sequence[str], kind: Kind) -> list[Vector]:
        found = self._ask(texts, kind)
        for vector in found:
            if isinstance(vector, EmbeddingError):
                raise vector
        return [vector for vector in found if not isinstance(vector, EmbeddingError)]

    def embed_each(self, texts: Sequence[str], kind: Kind) -> list[Vector | EmbeddingError]:
        """A batch that is refused is halved until it is clear which text is to blame."""
        try:
            return self._ask(texts, kind)
        except EmbeddingError as error:
            if error.trouble is not Trouble.ANSWER:
                raise
            if len(texts) == 1:
                return [error]
        half = len(texts) // 2
        return [*self.embed_each(texts[:half], kind), *self.embed_each(texts[half:], kind)]

    def _ask(self, texts: Sequence[str], kind: Kind) -> list[Vector | EmbeddingError]:
        prefix = self.spec.prefix(kind)
        body: dict[str, Any] = {
            "model": self.spec.name,
            "input": [prefix + text for text in texts],
            "encoding_format": "base64" if self.spec == DEFAULT_MODEL else "float",
        }
        if self.ask_dimensions:
            body["dimensions"] = self.ask_dimensions
        content = post(
            f"{self.url.rstrip('/')}/embeddings", body, self.api_key, self.patience or PATIENCE[kind]
        )
        return [self._vector(item) for item in _in_order(_json(content), len(texts))]

    def _vector(self, item: Any) -> Vector | EmbeddingError:
        try:
            vector = _packed(item) if isinstance(item, str) else np.array(item, np.float32)
        except (TypeError, ValueError):
            return EmbeddingError(
                Trouble.ANSWER, "The embedding server answered something else than numbers."
            )
        wanted = self.spec.dimensions
        if vector.ndim != 1 or not len(vector) or (wanted and len(vector) != wanted):
            size = len(vector) if vector.ndim == 1 else 0
            return EmbeddingError(
                Trouble.ANSWER, f"The embedding server answered {size} numbers instead of {wanted}."
            )
        length = float(np.linalg.norm(vector))
        if not math.isfinite(length) or length == 0:
            return EmbeddingError(
                Trouble.ANSWER, "The embedding server answered numbers without a direction."
            )
        return normalised(vector)


def post(url: str, body: object, api_key: str, patience: Patience, server: str = SERVER) -> bytes:
    """What the server answers with 200. Raises EmbeddingError for anything else, within the time of the patience."""
    headers = {"Authorization": f"Bearer {api_key}"} if api_key else {}
    timeout = httpx2.Timeout(patience.answer, connect=patience.connect)
    try:
        address, socket = _address(url)
        with _pool(socket).stream("POST", address, json=body, headers=headers, timeout=timeout) as response:
            content = _read(response, patience.answer, server)
    except NO_ADDRESS:
        raise EmbeddingError(Trouble.REFUSED, f"The {server}'s URL is not an address.") from None
    except httpx2.TimeoutException:
        raise EmbeddingError(Trouble.UNAVAILABLE, f"The {server} did not answer in time.") from None
    except httpx2.HTTPError as error:
        raise EmbeddingError(
            Trouble.UNAVAILABLE, f"The {server} cannot be reached ({type(error).__name__})."
        ) from None
    if response.status_code != httpx2.codes.OK:
        raise refusal(response, content, server)
    return content


def _packed(text: str) -> Vector:
    """Ours and some others can answer so; it is quicker to write and to read."""
    return np.frombuffer(base64.b64decode(text), "<f4")


def _in_order(answer: Any, count: int) -> list[Any]:
    try:
        items = [(int(item.get("index", i)), item["embedding"]) for i, item in enumerate(answer["data"])]
    except (TypeError, KeyError, ValueError, AttributeError):
        raise EmbeddingError(Trouble.ANSWER, "The embedding server's answer has another form.") from None
    if sorted(index for index, _ in items) != list(range(count)):
        raise EmbeddingError(
            Trouble.ANSWER, f"The embedding server answered {len(items)} vectors for {count} texts."
        )
    return [embedding for _, embedding in sorted(items, key=itemgetter(0))]


def _json(content: bytes) -> Any:
    try:
        return json.loads(content)
    except ValueError:
        raise EmbeddingError(Trouble.ANSWER, "The embedding server's answer is not JSON.") from None


def _read(response: httpx2.Response, seconds: float, server: str) -> bytes:
    """The body, within the time and the size that are sensible; a server may also trickle."""
    deadline = time.monotonic() + seconds
    content = bytearray()
    for piece in response.iter_bytes():
        content += piece
        if len(content) > BIGGEST_ANSWER:
            raise EmbeddingError(Trouble.ANSWER, f"The {server}'s answer is too long.")
        if time.monotonic() > deadline:
            raise EmbeddingError(Trouble.UNAVAILABLE, f"The {server} did not answer in time.")
    return bytes(content)


def refusal(response: httpx2.Response, content: bytes, server: str = SERVER) -> EmbeddingError:
    """What an answer other than 200 means. Its text is not repeated: it may quote what was sent."""
    status, code = response.status_code, _error_code(content)
    said = f"The {server} answered {status}{f' ({code})' if code else ''}."
    if status in HOPELESS or code == "insufficient_quota":
        return EmbeddingError(Trouble.REFUSED, said)
    if status in NOT_THIS:
        return EmbeddingError(Trouble.ANSWER, said)
    if code == Trouble.PREPARING:
        return EmbeddingError(Trouble.PREPARING, _progress(content), retry_after=1.0)
    return EmbeddingError(Trouble.UNAVAILABLE, said, retry_after=_retry_after(response))


def _error_code(content: bytes) -> str:
    error = _error(content)
    code = error.get("code") or error.get("type")
    return code if isinstance(code, str) and code.replace("_", "").isalnum() and len(code) < 60 else ""


def _progress(content: bytes) -> str:
    return str(_error(content).get("message", ""))[:200]


def _error(content: bytes) -> dict[str, Any]:
    try:
        error = json.loads(content)["error"]
    except (ValueError, KeyError, TypeError):
        return {}
    return error if isinstance(error, dict) else {}


def _retry_after(response: httpx2.Response) -> float | None:
    try:
        seconds = float(response.headers.get("retry-after", ""))
    except ValueError:
        return None
    return min(seconds, LONGEST_PAUSE) if seconds > 0 else None


def _address(url: str) -> tuple[str, str | None]:
    """Where to send requests, and the path of the socket to send them through."""
    parts = urlsplit(url.rstrip("/"))
    if parts.scheme == SOCKET_SCHEME:
        return f"http://localhost{parts.path}", unquote(parts.netloc)
    return url.rstrip("/"), None


@lru_cache(maxsize=8)
def _pool(socket: str | None) -> httpx2.Client:
    """Connections are kept and shared by the threads of a process. Redirects are not followed: they take keys along."""
    transport = httpx2.HTTPTransport(uds=socket) if socket else None
    return httpx2.Client(transport=transport, trust_env=socket is None)


os.register_at_fork(after_in_child=_pool.cache_clear)
