"""A server with the OpenAI interface for embeddings, for tests: it checks what it is asked, and fails as told.

Its vectors tell what words a text has; words of one meaning count as the same.
"""

import hashlib
import json
import re
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import numpy as np

MEANINGS = {
    "dog": "pet",
    "biscuit": "pet",
    "cat": "pet",
    "failover": "standby",
    "switching": "standby",
    "seconds": "duration",
    "long": "duration",
}
IDLE = {"the", "is", "a", "to", "how", "takes", "called", "of", "name"}


def vector_of(text: str, dimensions: int, salt: str = "") -> list[float]:
    total = np.full(dimensions, 1e-3)
    for word in re.findall(r"\w+", text.casefold()):
        if word not in IDLE:
            seed = hashlib.sha256(f"{salt}:{MEANINGS.get(word, word)}".encode()).digest()[:8]
            total += np.random.default_rng(int.from_bytes(seed)).normal(size=dimensions)
    return (total / np.linalg.norm(total)).tolist()


@dataclass
class Answer:
    status: int = 200
    body: Any = None
    headers: dict[str, str] = field(default_factory=dict)


Behaviour = Callable[[list[str]], Answer | None]
"""Given the texts, another answer than the right one, or None for that."""


@dataclass
class FakeServer:
    """`behave` may be set at any time. `asked` has the texts of each request that was answered or refused."""

    dimensions: int = 384
    salt: str = ""
    model: str = "fake-model"
    api_key: str = ""
    behave: Behaviour = lambda texts: None
    asked: list[list[str]] = field(default_factory=list)
    complaints: list[str] = field(default_factory=list)
    port: int = 0
    _server: ThreadingHTTPServer | None = None

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/v1"

    def start(self) -> None:
        self._server = ThreadingHTTPServer(("127.0.0.1", self.port), handler(self))
        self._server.daemon_threads = True
        self.port = self._server.server_address[1]
        threading.Thread(target=self._server.serve_forever, args=[0.01], daemon=True).start()

    def stop(self) -> None:
        """From now on nobody listens at its address."""
        if self._server:
            self._server.shutdown()
            self._server.server_close()
            self._server = None

    def fail(self, status: int, code: str = "", **headers: str) -> None:
        error = {"error": {"code": code, "message": "told by a test"}}
        self.behave = lambda texts: Answer(
            status, error, {k.replace("_", "-"): v for k, v in headers.items()}
        )

    def recover(self) -> None:
        self.behave = lambda texts: None

    def answer(self, texts: list[str]) -> Answer:
        self.asked.append(texts)
        return self.behave(texts) or self.right(texts)

    def right(self, texts: list[str], **changed: Any) -> Answer:
        """The right answer; `changed` has other vectors for some, by the index as `item_2`."""
        data = [
            {"object": "embedding", "index": i, "embedding": vector_of(text, self.dimensions, self.salt)}
            for i, text in enumerate(texts)
        ]
        for name, vector in changed.items():
            data[int(name.removeprefix("item_"))]["embedding"] = vector
        data.reverse()  # the order is told by the index alone
        return Answer(body={"object": "list", "model": self.model, "data": data, "usage": {}})

    def check(self, path: str, headers: Any, body: Any) -> Answer | None:
        texts = body.get("input")
        faults = {
            "path": path != "/v1/embeddings",
            "content type": headers.get("content-type") != "application/json",
            "texts": not isinstance(texts, list) or not texts or not all(isinstance(t, str) for t in texts),
            "blank text": isinstance(texts, list) and any(not str(t).strip() for t in texts),
            "encoding": body.get("encoding_format") != "float",
            "unknown field": bool(body.keys() - {"model", "input", "encoding_format", "dimensions"}),
        }
        found = [name for name, faulty in faults.items() if faulty]
        if found:
            self.complaints += found
            return Answer(400, {"error": {"code": "invalid_request", "message": ", ".join(found)}})
        if self.api_key and headers.get("authorization") != f"Bearer {self.api_key}":
            return Answer(401, {"error": {"code": "invalid_api_key", "message": "no"}})
        if body.get("model") != self.model:
            return Answer(404, {"error": {"code": "model_not_found", "message": "no"}})
        return None


def handler(fake: FakeServer) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["content-length"])))
            if fake._server is None:  # stopped, and this is a connection from before
                self.close_connection = True
                return
            answer = fake.check(self.path, self.headers, body) or fake.answer(body["input"])
            content = answer.body if isinstance(answer.body, bytes) else json.dumps(answer.body).encode()
            self.send_response(answer.status)
            for name, value in {"content-length": str(len(content)), **answer.headers}.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, *args: object) -> None:
            pass

    return Handler


@contextmanager
def serving(**fields: Any) -> Iterator[FakeServer]:
    fake = FakeServer(**fields)
    fake.start()
    try:
        yield fake
    finally:
        fake.recover()
        fake.stop()
        assert fake.complaints == []
