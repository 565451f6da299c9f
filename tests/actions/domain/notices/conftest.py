import socketserver
import threading
from collections.abc import Iterator
from typing import Any

import pytest


class _MailServer(socketserver.StreamRequestHandler):
    """As much SMTP as Django asks for; what it answers to the address is told to it."""

    def handle(self) -> None:
        server: Any = self.server
        self.say("220 here")
        while line := self.rfile.readline():
            word = line.split()[0].upper().rstrip(b":")
            if word == b"RCPT" and server.refusals:
                self.say(server.refusals.pop(0))
            elif word == b"DATA":
                self.say("354 go on")
                letter = b""
                while (part := self.rfile.readline()) != b".\r\n":
                    letter += part
                server.letters.append(letter)
                self.say("250 taken")
            else:
                self.say("221 bye" if word == b"QUIT" else "250 ok")

    def say(self, text: str) -> None:
        self.wfile.write(text.encode() + b"\r\n")


@pytest.fixture
def post_office(settings: Any) -> Iterator[Any]:
    with socketserver.ThreadingTCPServer(("127.0.0.1", 0), _MailServer) as server:
        server.letters, server.refusals = [], []  # type: ignore[attr-defined]
        threading.Thread(target=server.serve_forever, daemon=True).start()
        settings.EMAIL_BACKEND = "django.core.mail.backends.smtp.EmailBackend"
        settings.EMAIL_HOST, settings.EMAIL_PORT = server.server_address
        settings.EMAIL_USE_TLS = settings.EMAIL_USE_SSL = False
        yield server
        server.shutdown()
