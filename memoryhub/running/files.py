"""Files of a data directory that nobody else may open."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import IO


def open_lock(path: Path) -> IO[str]:
    """A file to lock. Closed to others: whoever can open it could hold the lock."""
    return os.fdopen(os.open(path, os.O_RDWR | os.O_CREAT, 0o600), "r+")


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
