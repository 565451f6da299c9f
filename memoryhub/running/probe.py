"""Is anybody answering? The only proof that a server lives is its answer on the socket."""

from __future__ import annotations

import enum
import socket
import struct
from pathlib import Path

PROTOCOL = 196608
NOT_YET = b"57P03"
"""SQLSTATE cannot_connect_now: starting, recovering or shutting down."""


class Answer(enum.Enum):
    NONE = "nobody answers"
    NOT_YET = "starting, recovering or shutting down"
    READY = "ready"


def ask(path: Path, user: str, database: str) -> Answer:
    """Begin a session on a PostgreSQL socket and read the first message. A refusal is an answer too."""
    parameters = b"".join(word.encode() + b"\0" for word in ("user", user, "database", database, ""))
    startup = struct.pack("!ii", len(parameters) + 8, PROTOCOL) + parameters
    try:
        with socket.socket(socket.AF_UNIX) as client:
            client.settimeout(5)
            client.connect(str(path))
            client.sendall(startup)
            return _read_answer(client)
    except OSError:
        return Answer.NONE


def _read_answer(client: socket.socket) -> Answer:
    first = client.recv(1024)
    if not first:
        return Answer.NONE
    if first[:1] == b"E" and b"C" + NOT_YET + b"\0" in first:
        return Answer.NOT_YET
    return Answer.READY
