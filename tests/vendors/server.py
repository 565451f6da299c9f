"""Vendors on this machine: stateful, strict about what they are sent, and faulty when told so."""

import contextlib
import json
import threading
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

from jsonschema import Draft202012Validator

from tests.vendors.faults import Fault

TOKEN = "a-token-of-the-tests"
DESCRIPTIONS = Path(__file__).parent / "descriptions"


class No(Exception):
    """The vendor's refusal: a status and its body."""

    def __init__(self, status: int, **body: Any) -> None:
        self.status = status
        self.body = body


@dataclass
class Asked:
    method: str
    path: str
    query: dict[str, list[str]]
    headers: dict[str, str]
    content: bytes

    @property
    def json(self) -> dict[str, Any]:
        return dict(json.loads(self.content or b"{}"))

    def one(self, name: str, default: str = "") -> str:
        return self.query.get(name, [default])[0]


Handler = Callable[[Asked], Any]


@dataclass
class Vendor:
    """`made` are the things that came into being, in order; `asked` every request. `service` names its address."""

    service: str
    made: list[dict[str, Any]] = field(default_factory=list)
    asked: list[Asked] = field(default_factory=list)
    faults: deque[Fault] = field(default_factory=deque)
    token: str = TOKEN
    seconds: float = 0.0
    """How long it takes to do what it is asked, and again to say so."""
    lock: threading.RLock = field(default_factory=threading.RLock)

    def answer(self, asked: Asked) -> tuple[int, Any]:
        with self.lock:
            self.asked.append(asked)
            if asked.headers.get("authorization") not in (f"Bearer {self.token}", f"token {self.token}"):
                return self.refusal(self.signed_out())
            try:
                return self.route(asked)
            except No as no:
                return self.refusal(no)

    def route(self, asked: Asked) -> tuple[int, Any]:
        raise NotImplementedError

    def makes(self, asked: Asked) -> bool:
        """Whether this is the request that has an effect: the one that faults are for."""
        raise NotImplementedError

    def signed_out(self) -> No:
        return No(401, message="Bad credentials")

    def refusal(self, no: No) -> tuple[int, Any]:
        return no.status, no.body

    def check(self, body: dict[str, Any]) -> None:
        """Against the slice of the vendor's own description."""
        described = json.loads((DESCRIPTIONS / f"{self.service}.json").read_text())
        if faults := list(Draft202012Validator(described["schema"]).iter_errors(body)):
            raise No(422, message="; ".join(f"{'/'.join(map(str, f.path))}: {f.message}" for f in faults))


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: "VendorServer"

    def log_message(self, *args: Any) -> None:
        pass

    def serve(self) -> None:
        asked, vendor = self.read(), self.server.vendor
        fault = vendor.faults.popleft() if vendor.makes(asked) and vendor.faults else None
        if fault is None:
            time.sleep(vendor.seconds)
            status, body = vendor.answer(asked)
            time.sleep(vendor.seconds)
            self.say(status, body)
            return
        status, body = vendor.answer(asked) if fault.effect else (fault.answer, {"message": "as told"})
        self.fail(fault, status, body)

    do_GET = do_POST = serve  # noqa: N815 (the standard library's names)

    def read(self) -> Asked:
        parts = urlsplit(self.path)
        content = self.rfile.read(int(self.headers.get("content-length", 0)))
        headers = {name.lower(): value for name, value in self.headers.items()}
        return Asked(
            self.command, parts.path, parse_qs(parts.query, keep_blank_values=True), headers, content
        )

    def say(self, status: int, body: Any, **headers: str) -> None:
        content = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json; charset=utf-8")
        self.send_header("Content-Length", str(len(content)))
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.end_headers()
        with contextlib.suppress(ConnectionError):  # who asked may be gone
            self.wfile.write(content)

    def fail(self, fault: Fault, status: Any, body: Any) -> None:
        self.close_connection = True
        match fault.answer:
            case "drop":
                pass
            case "malformed":
                self.send_response(200)
                self.send_header("Content-Length", "9")
                self.end_headers()
                self.wfile.write(b"<html>oh!")
            case "slow":
                self.send_response(200)
                self.send_header("Content-Length", "1000")
                self.end_headers()
                self.wfile.flush()
                self.server.stopping.wait(10)
            case 429:
                self.say(429, {"ok": False, "error": "ratelimited"}, Retry_After="1")
            case 302:
                self.say(302, {}, Location=f"{self.server.address}/elsewhere")
            case 401:
                self.say(*self.server.vendor.refusal(self.server.vendor.signed_out()))
            case code:
                self.say(int(code), {"message": "as told"})


class VendorServer(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 64

    def __init__(self, vendor: Vendor) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.vendor = vendor
        self.stopping = threading.Event()
        self.thread = threading.Thread(target=self.serve_forever, daemon=True, kwargs={"poll_interval": 0.02})
        self.thread.start()

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}"

    def stop(self) -> None:
        self.stopping.set()
        self.shutdown()
        self.server_close()
        self.thread.join()
