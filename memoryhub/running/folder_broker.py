"""A broker for one machine that is a folder: each message a file, for URLs such as `folder://localhost/srv/hub/broker`.

A message appears by a rename, whole, and is gone once taken. It only wakes a worker; the work itself is a row
in the database, so a message lost with its reader costs a moment and nothing else.
"""

from __future__ import annotations

import json
import os
import uuid
from pathlib import Path
from queue import Empty
from time import time_ns
from typing import Any

from kombu.transport import TRANSPORT_ALIASES, virtual

SCHEME = "folder"
LOOK_UP = 0.2
"""Seconds."""


class Channel(virtual.Channel):
    @property
    def folder(self) -> Path:
        return Path("/", self.connection.client.virtual_host)

    def _put(self, queue: str, message: Any, **kwargs: Any) -> None:
        name = f"{time_ns():020}_{uuid.uuid4().hex}.{queue}.msg"
        hidden = self.folder / f".{name}"
        hidden.write_text(json.dumps(message))
        hidden.rename(self.folder / name)

    def _get(self, queue: str, timeout: float | None = None) -> Any:
        """The oldest message. Whoever renames it first has it."""
        for name in self._waiting(queue):
            taken = self.folder / f".{uuid.uuid4().hex}.taken"
            try:
                (self.folder / name).rename(taken)
            except FileNotFoundError:
                continue
            text = taken.read_text()
            taken.unlink()
            return json.loads(text)
        raise Empty

    def _size(self, queue: str) -> int:
        return len(self._waiting(queue))

    def _purge(self, queue: str) -> int:
        names = self._waiting(queue)
        for name in names:
            (self.folder / name).unlink(missing_ok=True)
        return len(names)

    def _waiting(self, queue: str) -> list[str]:
        ending = f".{queue}.msg"
        names = os.listdir(self.folder)  # noqa: PTH208 (twenty times a second)
        return sorted(name for name in names if name.endswith(ending) and not name.startswith("."))


class Transport(virtual.Transport):
    Channel = Channel
    global_state = virtual.BrokerState()  # type: ignore[no-untyped-call]
    polling_interval = 0.05
    driver_type = driver_name = SCHEME
    implements = virtual.Transport.implements.extend(exchange_type=frozenset(["direct"]))

    def __init__(self, client: Any, **kwargs: Any) -> None:
        super().__init__(client, **kwargs)  # type: ignore[no-untyped-call]
        self.state = self.global_state

    def drain_events(self, connection: Any, timeout: float | None = None, **kwargs: Any) -> Any:
        """Whoever waits for long looks up now and then: a worker that is to stop notices then."""
        short = timeout and min(timeout, LOOK_UP)
        return super().drain_events(connection, timeout=short, **kwargs)  # type: ignore[no-untyped-call]

    def driver_version(self) -> str:
        return "1"


def clear(folder: Path) -> None:
    """Forget messages of an earlier run; the sweep finds the work they were about."""
    for message in folder.iterdir():
        message.unlink()


TRANSPORT_ALIASES[SCHEME] = f"{__name__}:Transport"
