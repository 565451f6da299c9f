"""Threads and the database's connections: calls from asyncio code, and waiting for others without holding one.

One pool of our own: its size bounds the connections a process takes, and calls never queue behind Django's
single thread for synchronous code.
"""

import asyncio
import contextvars
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import ParamSpec, TypeVar

from django.db import close_old_connections, connection

from memoryhub.common.env import envint

P = ParamSpec("P")
T = TypeVar("T")

POOL = ThreadPoolExecutor(max_workers=envint("DB_THREADS", 8), thread_name_prefix="db")


async def in_db_thread(fn: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """Runs `fn` in a database thread with the caller's context variables, then gives its connection back."""
    call = partial(contextvars.copy_context().run, fn, *args, **kwargs)
    return await asyncio.get_running_loop().run_in_executor(POOL, _between_connections, call)


def _between_connections(call: Callable[[], T]) -> T:
    close_old_connections()
    try:
        return call()
    finally:
        close_old_connections()


def let_go() -> None:
    """Give this thread's connection back, unless a transaction (of a test) is open on it."""
    if not connection.in_atomic_block:
        connection.close()
