"""A person at a browser, for clients that send theirs to a page of the hub; and what such clients need besides."""

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from html.parser import HTMLParser
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlsplit

import httpx2

PASSWORD = "correct horse battery"


class Form(HTMLParser):
    """The fields of a page's forms as they stand, and the first choice of each list."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.fields: dict[str, list[str]] = {}
        self._list = ""
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        had = {name: value or "" for name, value in attrs}
        if tag == "select":
            self._list = had["name"]
        elif tag == "option" and self._list and self._list not in self.fields:
            self.fields[self._list] = [had["value"]]
        elif tag == "input" and had.get("name") and (had.get("type") != "checkbox" or "checked" in had):
            self.fields.setdefault(had["name"], []).append(had.get("value", "on"))


class Person:
    """Signs in when asked to, and allows what is asked for, as the page offers it."""

    def __init__(self, email: str, browser: httpx2.Client) -> None:
        self.email = email
        self.http = browser
        self.asked: list[list[str]] = []

    def answer(self, url: str) -> str:
        """Where the client's page leads to in the end: its own redirect, with the code."""
        page = self.http.get(url, follow_redirects=True)
        if "/accounts/login/" in str(page.url):
            fields = Form(page.text).fields | {"login": [self.email], "password": [PASSWORD]}
            page = self.http.post(str(page.url), data=fields, follow_redirects=True)
        fields = Form(page.text).fields
        self.asked.append(fields["granted"])
        answer = self.http.post(str(page.url), data=fields | {"decision": ["allow"]})
        return str(answer.headers["location"])


class _Answering(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        body = self.server.answer(self.path).encode()  # type: ignore[attr-defined]
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *args: object) -> None:
        pass


@contextmanager
def listening(answer: Any) -> Iterator[int]:
    """Answers GET with JSON text, on a port of this machine."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Answering)
    server.answer = answer  # type: ignore[attr-defined]
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield int(server.server_address[1])
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


@contextmanager
def at_hand(person: Person) -> Iterator[str]:
    """An address at which a client of another language has the person answer: `?url=…`."""

    def answer(path: str) -> str:
        return json.dumps(person.answer(parse_qs(urlsplit(path).query)["url"][0]))

    with listening(answer) as port:
        yield f"http://127.0.0.1:{port}/"


@contextmanager
def documented(redirect: str) -> Iterator[str]:
    """The address of a client's metadata document, as `documents.py` finds it."""
    known: dict[str, Any] = {}

    def answer(path: str) -> str:
        return json.dumps({**known, "client_id": f"https://clients.example:{known['port']}{path}"})

    known |= {
        "client_name": "Documented",
        "redirect_uris": [redirect],
        "token_endpoint_auth_method": "none",
        "grant_types": ["authorization_code", "refresh_token"],
    }
    with listening(answer) as port:
        known["port"] = port
        yield f"https://clients.example:{port}/client.json"
