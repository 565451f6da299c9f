"""A ZIP that is written as it is read: memory holds a piece of it, whatever its size."""

from __future__ import annotations

import hashlib
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime
from typing import IO, Any, cast

PIECE = 64 * 1024


class _Outlet:
    """What the ZIP writes to: it can't be searched, and gives out what has come."""

    def __init__(self) -> None:
        self.waiting = bytearray()

    def write(self, data: Any) -> int:
        self.waiting += data
        return len(data)

    def flush(self) -> None:
        """There is nothing behind it."""


@dataclass
class Entry:
    """A file of the archive while it is written, and afterwards what the manifest says of it."""

    path: str
    target: IO[bytes]
    rows: int = 0
    size: int = 0
    sha256: str = ""
    _digest: Any = field(default_factory=hashlib.sha256, repr=False)

    def write(self, data: bytes) -> None:
        self.target.write(data)
        self._digest.update(data)
        self.size += len(data)

    def close(self) -> None:
        self.sha256 = self._digest.hexdigest()


class Archive:
    """`take()` gives the bytes that are ready; after `close()` it gives the last ones."""

    def __init__(self, at: datetime) -> None:
        self._outlet = _Outlet()
        self._zip = zipfile.ZipFile(cast("IO[bytes]", self._outlet), "w", zipfile.ZIP_DEFLATED)
        self._at = at

    @contextmanager
    def entry(self, path: str) -> Iterator[Entry]:
        info = zipfile.ZipInfo(path, self._at.timetuple()[:6])
        info.compress_type = zipfile.ZIP_DEFLATED
        info.external_attr = 0o600 << 16
        with self._zip.open(info, "w", force_zip64=True) as target:
            entry = Entry(path, target)
            yield entry
        entry.close()

    def take(self, *, least: int = PIECE) -> bytes:
        """Nothing while there is less than `least`."""
        if len(self._outlet.waiting) < least:
            return b""
        ready, self._outlet.waiting = bytes(self._outlet.waiting), bytearray()
        return ready

    def close(self) -> None:
        self._zip.close()
