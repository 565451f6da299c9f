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
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qs, urlsplit

from jsonschema import Draft202012Validator

from tests.vendors.faults import Fault

if TYPE_CHECKING:
    from tests.vendors.authorities import Authority

TOKEN = "a-token-of-the-tests"
AGREE = {"/oauth/v2/authorize", "/o/oauth2/v2/auth", "/login/oauth/authorize", "/v1/oauth/authorize"}
GIVE = {"/api/oauth.v2.access", "/token", "/login/oauth/access_token", "/v1/oauth/token"}
END = {"/revoke", "/v1/oauth/revoke", "/applications/hub.123/grant"}
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

    @property
    def form(self) -> dict[str, str]:
        return {name: values[0] for name, values in parse_qs(self.content.decode()).items()}

    @property
    def token(self) -> str:
        """GitHub's own library says `token`."""
        kind, _, token = self.headers.get("authorization", "").partition(" ")
        return token if kind in ("Bearer", "token") else ""

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
    pause: int = 1
    """Seconds to wait for who asked too often."""
    lock: threading.RLock = field(default_factory=threading.RLock)
    authority: "Authority | None" = None

    def answer(self, asked: Asked) -> tuple[int, Any]:
        with self.lock:
            self.asked.append(asked)
            if answered := self.at_the_door(asked):
                return answered
            if not self.takes(asked.token):
                return self.refusal(self.signed_out())
            try:
                return self.route(asked)
            except No as no:
                return self.refusal(no)

    def takes(self, token: str) -> bool:
        return token == self.token or (self.authority is not None and self.authority.takes(token))

    def at_the_door(self, asked: Asked) -> tuple[int, Any] | None:
        """What belongs to signing in; None for everything else."""
        if self.authority is None or asked.path not in AGREE | GIVE | END:
            return None
        try:
            if asked.path in AGREE:
                return 302, self.authority.agree(asked)
            if asked.path in GIVE:
                said = self.authority.give(asked)
                return said if isinstance(said, tuple) else (200, said)
            return self.end(self.authority, asked)
        except No as no:
            return no.status, no.body

    def end(self, authority: "Authority", asked: Asked) -> tuple[int, Any]:
        raise No(404)

    def fault_for(self, asked: Asked) -> Fault | None:
        faults = self.faults if self.makes(asked) else deque[Fault]()
        if self.authority is not None and asked.path in GIVE:
            faults = self.authority.faults
        return faults.popleft() if faults else None

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
        fault = vendor.fault_for(asked)
        if fault is None:
            time.sleep(vendor.seconds)
            status, body = vendor.answer(asked)
            time.sleep(vendor.seconds)
            self.say(status, body)
            return
        status, body = vendor.answer(asked) if fault.effect else (fault.answer, {"message": "as told"})
        self.fail(fault, status, body)

    do_GET = do_POST = do_DELETE = serve  # noqa: N815 (the standard library's names)

    def read(self) -> Asked:
        parts = urlsplit(self.path)
        content = self.rfile.read(int(self.headers.get("content-length", 0)))
        headers = {name.lower(): value for name, value in self.headers.items()}
        return Asked(
            self.command, parts.path, parse_qs(parts.query, keep_blank_values=True), headers, content
        )

    def say(self, status: int, body: Any, **headers: str) -> None:
        """A text is where a browser is sent."""
        if status == 302 and isinstance(body, str):
            headers, body = {**headers, "Location": body}, {}
        content = body if isinstance(body, bytes) else json.dumps(body).encode()
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
            case "huge":
                self.say(200, {"access_token": "x" * (5 * 1024 * 1024)})
            case 429:
                self.say(
                    429, {"ok": False, "error": "ratelimited"}, Retry_After=str(self.server.vendor.pause)
                )
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
