"""A long download: made in a thread at its own pace into a file on disk, and sent from there as fast as it is taken.

So the database is held only while the content is made, however slow the taker, and memory holds a piece.
"""

import asyncio
import os
import tempfile
from collections.abc import AsyncIterator, Callable, Iterator
from threading import Event, Thread

from django.db import connection
from django.http import StreamingHttpResponse
from django.utils.cache import add_never_cache_headers

from memoryhub.common.threads import in_db_thread

PIECE = 64 * 1024
CHECK_SECONDS = 1.0


class Spool:
    """What one thread makes and another sends. Closing it early stops the making."""

    def __init__(self, make: Callable[[], Iterator[bytes]]) -> None:
        self._make = make
        self._file = tempfile.TemporaryFile()  # noqa: SIM115 (closed when it has been sent)
        self._size = 0
        self._ended = False
        self._fault: BaseException | None = None
        self._left = Event()
        self._loop = asyncio.get_running_loop()
        self._more = asyncio.Event()
        self._thread = Thread(target=self._fill, name="spool", daemon=True)
        self._thread.start()

    def _fill(self) -> None:
        try:
            for piece in self._make():
                if self._left.is_set():
                    return
                self._file.write(piece)
                self._file.flush()
                self._size += len(piece)
                self._loop.call_soon_threadsafe(self._more.set)
        except BaseException as fault:  # told to the reader, whose matter it is
            self._fault = fault
        finally:
            connection.close()
            self._ended = True
            self._loop.call_soon_threadsafe(self._more.set)

    async def pieces(self) -> AsyncIterator[bytes]:
        at = 0
        try:
            while True:
                self._more.clear()
                ended, size = self._ended, self._size
                while at < size:
                    piece = os.pread(self._file.fileno(), min(PIECE, size - at), at)
                    at += len(piece)
                    yield piece
                if self._fault:
                    raise self._fault
                if ended:
                    return
                await self._more.wait()
        finally:
            self._left.set()
            await asyncio.to_thread(self._thread.join)
            self._file.close()


def download(
    name: str, make: Callable[[], Iterator[bytes]], still: Callable[[], object], kind: str = "application/zip"
) -> StreamingHttpResponse:
    """`still` is asked each second whether the taker still may; what it raises cuts the download off."""
    response = StreamingHttpResponse(_sent(make, still), content_type=kind)
    response["Content-Disposition"] = f'attachment; filename="{name}"'
    response["X-Content-Type-Options"] = "nosniff"
    add_never_cache_headers(response)
    return response


async def _sent(make: Callable[[], Iterator[bytes]], still: Callable[[], object]) -> AsyncIterator[bytes]:
    loop = asyncio.get_running_loop()
    asked = loop.time()
    async for piece in Spool(make).pieces():
        if loop.time() - asked > CHECK_SECONDS:
            await in_db_thread(still)
            asked = loop.time()
        yield piece
