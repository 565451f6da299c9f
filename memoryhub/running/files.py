"""Files of a data directory that nobody else may open."""

from __future__ import annotations

import fcntl
import json
import os
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path


def open_lock(path: Path) -> int:
    """The descriptor of a file to lock. Closed to others: whoever can open it could hold the lock."""
    return os.open(path, os.O_RDWR | os.O_CREAT, 0o600)


@contextmanager
def locked(path: Path, *, wait: bool = True) -> Iterator[None]:
    """Hold a file's lock, which ends with this process. BlockingIOError where it is held and may not wait."""
    descriptor = open_lock(path)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX if wait else fcntl.LOCK_EX | fcntl.LOCK_NB)
        yield
    finally:
        os.close(descriptor)


def read_json(path: Path) -> dict[str, object]:
    """The object in a file; an empty one where there is none to read."""
    try:
        found = json.loads(path.read_text())
    except (FileNotFoundError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}


def write_private(path: Path, content: Mapping[str, object]) -> None:
    """Write JSON that only the owner may read: there whole or not at all, even after a power cut."""
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    with os.fdopen(handle, "w") as file:
        json.dump(content, file, indent=2)
        file.write("\n")
        file.flush()
        os.fsync(file.fileno())
    Path(name).replace(path)
