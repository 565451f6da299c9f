"""A server with the OpenAI interface for chat, for tests: it checks what it is asked, and answers as told."""

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

KNOWN = {"model", "messages", "stream", "max_tokens", "temperature", "response_format"}


@dataclass
class Answer:
    status: int = 200
    body: Any = None
    headers: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Asked:
    """One question. `body` is the whole request."""

    instructions: str
    text: str
    body: dict[str, Any]


Reply = Callable[[Asked], "str | Answer"]


@dataclass
class FakeModel:
    """`reply` may be set at any time: the text of an answer, or an answer of another form."""

    model: str = "fake-model"
    api_key: str = ""
    reply: Reply = lambda asked: "Understood."
    asked: list[Asked] = field(default_factory=list)
    complaints: list[str] = field(default_factory=list)
    port: int = 0

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/v1"

    def check(self, path: str, headers: Any, body: dict[str, Any]) -> Answer | None:
        roles = [m.get("role") for m in body.get("messages", [])]
        texts = [m.get("content") for m in body.get("messages", [])]
        faults = {
            "path": path != "/v1/chat/completions",
            "content type": headers.get("content-type") != "application/json",
            "unknown field": bool(body.keys() - KNOWN),
            "roles": roles != ["system", "user"],
            "texts": not all(isinstance(text, str) and text.strip() for text in texts),
            "stream": body.get("stream") is not False,
            "format": not well_formed(body.get("response_format")),
        }
        found = [name for name, faulty in faults.items() if faulty]
        self.complaints += found
        if found:
            return Answer(400, {"error": {"message": ", ".join(found)}})
        if self.api_key and headers.get("authorization") != f"Bearer {self.api_key}":
            return Answer(401, {"error": {"code": "invalid_api_key", "message": "no"}})
        if body.get("model") != self.model:
            return Answer(404, {"error": {"code": "model_not_found", "message": "no"}})
        return None

    def answer(self, body: dict[str, Any]) -> Answer:
        system, user = body["messages"]
        asked = Asked(system["content"], user["content"], body)
        self.asked.append(asked)
        said = self.reply(asked)
        return said if isinstance(said, Answer) else Answer(body=completion(said))


def well_formed(wish: Any) -> bool:
    if wish is None:
        return True
    inner = wish.get("json_schema", {})
    return (
        wish.get("type") == "json_schema"
        and bool(inner.get("name"))
        and isinstance(inner.get("schema"), dict)
    )


def completion(text: str | None, finish_reason: str = "stop") -> dict[str, Any]:
    message = {"role": "assistant", "content": text}
    choice = {"index": 0, "message": message, "finish_reason": finish_reason}
    return {"id": "chatcmpl-1", "object": "chat.completion", "model": "fake-model", "choices": [choice]}


def handler(fake: FakeModel) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["content-length"])))
            answer = fake.check(self.path, self.headers, body) or fake.answer(body)
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
def serving_model(**fields: Any) -> Iterator[FakeModel]:
    fake = FakeModel(**fields)
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler(fake))
    server.daemon_threads = True
    fake.port = server.server_address[1]
    threading.Thread(target=server.serve_forever, args=[0.01], daemon=True).start()
    try:
        yield fake
    finally:
        server.shutdown()
        server.server_close()
        assert fake.complaints == []
