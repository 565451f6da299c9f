import asyncio
import contextvars
import threading
from collections.abc import Iterator
from typing import Any, NoReturn

import pytest
from django.db import connection

from memoryhub.common.threads import POOL, in_db_thread

SIZE = POOL._max_workers
REQUEST = contextvars.ContextVar("REQUEST", default="nobody's")


@pytest.fixture
def database(django_db_setup: None, django_db_blocker: Any) -> Iterator[None]:
    """The threads have connections of their own, so that a test's transaction would be of no use to them."""
    with django_db_blocker.unblock():
        yield


def current_user() -> str:
    with connection.cursor() as cursor:
        cursor.execute("select current_user")
        return str(cursor.fetchone()[0])


def test_a_call_runs_in_a_thread_of_our_pool_with_its_arguments() -> None:
    def call(first: int, *, second: int) -> tuple[str, int]:
        return threading.current_thread().name[:3], first + second

    assert asyncio.run(in_db_thread(call, 1, second=2)) == ("db_", 3)


def test_a_call_sees_the_context_of_its_caller_and_cannot_change_it() -> None:
    def call() -> str:
        seen = REQUEST.get()
        REQUEST.set("changed")
        return seen

    async def request() -> tuple[str, str]:
        REQUEST.set("mine")
        return await in_db_thread(call), REQUEST.get()

    assert asyncio.run(request()) == ("mine", "mine")


def test_an_error_reaches_the_caller() -> None:
    def fail() -> NoReturn:
        raise LookupError("nothing there")

    with pytest.raises(LookupError, match="nothing there"):
        asyncio.run(in_db_thread(fail))


def test_as_many_calls_run_side_by_side_as_the_pool_has_threads() -> None:
    everybody = threading.Barrier(SIZE, timeout=20)

    async def requests() -> list[int]:
        return await asyncio.gather(*(in_db_thread(everybody.wait) for _ in range(SIZE)))

    assert sorted(asyncio.run(requests())) == list(range(SIZE))


def test_no_thread_keeps_a_connection_after_its_call(database: None) -> None:
    everybody = threading.Barrier(SIZE, timeout=20)

    def call() -> str:
        everybody.wait()
        return current_user()

    def is_connected() -> bool:
        everybody.wait()
        return connection.connection is not None

    async def in_all() -> set[str]:
        return set(await asyncio.gather(*(in_db_thread(call) for _ in range(SIZE))))

    assert asyncio.run(in_all()) == {"hub_app"}
    looks = [POOL.submit(is_connected) for _ in range(SIZE)]
    assert {look.result() for look in looks} == {False}


def test_a_broken_connection_is_replaced_at_the_next_call(database: None) -> None:
    def break_it() -> None:
        current_user()
        connection.connection.close()

    async def twice() -> str:
        await in_db_thread(break_it)
        return await in_db_thread(current_user)

    assert asyncio.run(twice()) == "hub_app"
