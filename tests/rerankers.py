"""A server that reranks, in TEI's form or in Cohere's, for tests: it checks what it is asked, and fails as told.

It likes texts by how many of the letter z they have.
"""

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from tests.embeddings import Answer

Behaviour = Callable[[list[str]], Answer | None]


@dataclass
class FakeReranker:
    """`model` empty: TEI's form. `asked` has the texts of each request that was answered or refused."""

    model: str = ""
    api_key: str = ""
    behave: Behaviour = lambda texts: None
    asked: list[list[str]] = field(default_factory=list)
    complaints: list[str] = field(default_factory=list)
    _server: ThreadingHTTPServer | None = None

    @property
    def url(self) -> str:
        assert self._server
        return f"http://127.0.0.1:{self._server.server_address[1]}/rerank"

    def start(self) -> None:
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), handler(self))
        self._server.daemon_threads = True
        threading.Thread(target=self._server.serve_forever, args=[0.01], daemon=True).start()

    def stop(self) -> None:
        assert self._server
        self._server.shutdown()
        self._server.server_close()

    def fail(self, status: int) -> None:
        self.behave = lambda texts: Answer(status, {"error": "told by a test"})

    def recover(self) -> None:
        self.behave = lambda texts: None

    def answer(self, path: str, headers: Any, body: Any) -> Answer:
        name, wanted = (
            ("documents", {"model", "query", "documents", "top_n"})
            if self.model
            else ("texts", {"query", "texts", "truncate"})
        )
        texts = body.get(name)
        faults = {
            "path": path != "/rerank",
            "content type": headers.get("content-type") != "application/json",
            "fields": body.keys() != wanted,
            "model": body.get("model", "") != self.model,
            "query": not str(body.get("query", "")).strip(),
            "texts": not isinstance(texts, list) or len(texts) < 2 or not all(str(t).strip() for t in texts),
        }
        if found := [fault for fault, faulty in faults.items() if faulty]:
            self.complaints += found
            return Answer(422, {"error": ", ".join(found)})
        if self.api_key and headers.get("authorization") != f"Bearer {self.api_key}":
            return Answer(401, {"error": "no"})
        self.asked.append(texts)
        return self.behave(texts) or Answer(body=self.right(texts))

    def right(self, texts: list[str]) -> Any:
        scores = [float(text.count("z")) for text in texts]
        order = sorted(range(len(texts)), key=lambda i: -scores[i])
        if self.model:
            return {"results": [{"index": i, "relevance_score": scores[i]} for i in order]}
        return [{"index": i, "score": scores[i]} for i in order]


def handler(fake: FakeReranker) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["content-length"])))
            answer = fake.answer(self.path, self.headers, body)
            content = answer.body if isinstance(answer.body, bytes) else json.dumps(answer.body).encode()
            with suppress(ConnectionError):  # whoever asked has given up
                self.send_response(answer.status)
                for name, value in {"content-length": str(len(content)), **answer.headers}.items():
                    self.send_header(name, value)
                self.end_headers()
                self.wfile.write(content)

        def log_message(self, *args: object) -> None:
            pass

    return Handler


@contextmanager
def reranking(**fields: Any) -> Iterator[FakeReranker]:
    fake = FakeReranker(**fields)
    fake.start()
    try:
        yield fake
    finally:
        fake.recover()
        fake.stop()
        assert fake.complaints == []
