"""The whole ASGI application without sockets: quick, and every request works on connections of its own."""

import asyncio
import threading
from collections.abc import Coroutine, Iterator
from typing import Any, TypeVar

import httpx2
import pytest
from django.db import close_old_connections

from memoryhub.asgi import build_application

T = TypeVar("T")

HERE = "http://testserver"
PATIENCE = 60


class InProcess:
    """A loop in a thread of its own, on which the application runs. May be asked by many threads at once."""

    def __init__(self) -> None:
        self.loop = asyncio.new_event_loop()
        self.thread = threading.Thread(target=self.loop.run_forever, daemon=True)
        self.thread.start()
        self.application = build_application()
        self.http = httpx2.AsyncClient(
            transport=httpx2.ASGITransport(app=self.application, raise_app_exceptions=False),  # type: ignore[arg-type]
            base_url=HERE,
            timeout=PATIENCE,
        )

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        return asyncio.run_coroutine_threadsafe(work, self.loop).result(PATIENCE)

    def request(self, method: str, path: str, **options: Any) -> httpx2.Response:
        return self.run(self.http.request(method, path, **options))

    def close(self) -> None:
        self.run(self._end())
        self.loop.call_soon_threadsafe(self.loop.stop)
        self.thread.join()
        self.loop.close()

    async def _end(self) -> None:
        await self.http.aclose()
        rest = asyncio.all_tasks() - {asyncio.current_task()}
        for task in rest:
            task.cancel()
        await asyncio.gather(*rest, return_exceptions=True)


@pytest.fixture(scope="session")
def in_process(django_db_setup: None) -> Iterator[InProcess]:
    running = InProcess()
    yield running
    running.close()


def apart(act: Any) -> Any:
    """Runs it in a thread, so outside of the test's transaction: what it writes is committed."""
    answers: list[Any] = []

    def work() -> None:
        try:
            answers.append((act(), None))
        except BaseException as fault:
            answers.append((None, fault))
        finally:
            close_old_connections()

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    result, fault = answers[0]
    if fault:
        raise fault
    return result
