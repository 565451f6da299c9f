"""A machine on this machine that is told things: it answers as it is told, and keeps what it heard."""

import socket
import threading
import time
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

HERE = ["127.0.0.0/8"]
"""What the operator lists for it to be reached."""


@dataclass(frozen=True)
class Heard:
    path: str
    headers: dict[str, str]
    body: bytes


@dataclass
class Receiver:
    """`answers` are the next ones, each a status or a status with headers; then it is 204."""

    heard: list[Heard] = field(default_factory=list)
    answers: deque[Any] = field(default_factory=deque)
    body: bytes = b""
    seconds: float = 0.0
    port: int = 0

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/hook"

    def next_answer(self) -> tuple[int, dict[str, str]]:
        answer = self.answers.popleft() if self.answers else 204
        return answer if isinstance(answer, tuple) else (answer, {})


class _Handler(BaseHTTPRequestHandler):
    def log_message(self, *args: Any) -> None:
        pass

    def serve(self) -> None:
        receiver: Receiver = self.server.receiver  # type: ignore[attr-defined]
        body = self.rfile.read(int(self.headers.get("content-length") or 0))
        receiver.heard.append(Heard(self.path, {n.lower(): v for n, v in self.headers.items()}, body))
        time.sleep(receiver.seconds)
        status, headers = receiver.next_answer()
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.send_header("content-length", str(len(receiver.body)))
        self.end_headers()
        self.wfile.write(receiver.body)

    do_GET = do_POST = serve  # noqa: N815 (the standard library's names)


@contextmanager
def receiving() -> Iterator[Receiver]:
    receiver = Receiver()
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Handler)
    server.receiver, receiver.port = receiver, server.server_address[1]  # type: ignore[attr-defined]
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    try:
        yield receiver
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


@contextmanager
def knocks() -> Iterator[tuple[int, list[Any]]]:
    """A port of this machine, and who has connected to it: each is left without an answer."""
    came: list[Any] = []
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def accept() -> None:
            try:
                while True:
                    connection, who = listener.accept()
                    came.append(who)
                    connection.close()
            except OSError:
                return

        threading.Thread(target=accept, daemon=True).start()
        yield listener.getsockname()[1], came
        listener.shutdown(socket.SHUT_RDWR)


def resolving(
    monkeypatch: Any, names: dict[str, list[str]], *, then: dict[str, list[str]] | None = None
) -> list[str]:
    """A resolver that knows these names alone, and of each look-up keeps the name.

    From the second look-up of a name on, `then` counts where it has it. Addresses mean themselves, as ever.
    """
    asked: list[str] = []
    real = socket.getaddrinfo

    def look_up(host: Any, port: Any, *args: Any, **kwargs: Any) -> Any:
        name = host.decode() if isinstance(host, bytes) else str(host)
        if name not in names:
            kwargs["flags"] = kwargs.get("flags", 0) | socket.AI_NUMERICHOST
            return real(host, port, *args, **kwargs)
        known = then or {}
        found = known[name] if name in known and name in asked else names[name]
        asked.append(name)
        return [one for address in found for one in real(address, port, *args, **kwargs)[:1]]

    monkeypatch.setattr(socket, "getaddrinfo", look_up)
    return asked
