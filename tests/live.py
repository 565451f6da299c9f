"""A real server in a process of its own, on the test database, for tests that need sockets."""

import os
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from typing import IO

import pytest
from django.conf import settings
from django.db import connection

from memoryhub.common.postgres.statements import row_of
from memoryhub.running import lifeline
from tests.settings import postgres

READY_WITHIN = 30
GONE_WITHIN = 10
QUIET_WITHIN = 10


BUSY = """
    select count(*) from pg_stat_activity
     where datname = current_database() and pid <> pg_backend_pid() and xact_start is not null
"""


@pytest.fixture
def live_hub(transactional_db: None, live_process: str) -> Iterator[str]:
    """The address of a running hub. What the test stores is committed, and gone after it."""
    yield live_process
    wait_until_quiet()


def wait_until_quiet() -> None:
    """What the hub still answers to a page that was closed must not stand in the way of emptying the tables."""
    end = time.monotonic() + QUIET_WITHIN
    while row_of(BUSY, []) != (0,) and time.monotonic() < end:
        time.sleep(0.05)


@pytest.fixture(scope="session")
def live_process(django_db_setup: None) -> Iterator[str]:
    with running_server() as url:
        yield url


@contextmanager
def running_server(application: str = "memoryhub.asgi:application", **environment: str) -> Iterator[str]:
    """Serves an ASGI application on an ephemeral port of the loopback; its address is its PUBLIC_URL."""
    with listening_socket() as listener, tempfile.TemporaryFile() as log, held_lifeline() as line:
        url = f"http://localhost:{listener.getsockname()[1]}"
        surroundings = environment_of(url) | environment | {lifeline.VARIABLE: str(line)}
        process = start(application, listener, line, log, surroundings)
        try:
            wait_until_ready(url, process, log)
            yield url
        finally:
            stop(process)


@contextmanager
def listening_socket() -> Iterator[socket.socket]:
    """Listens from now on: nobody can take the port, and clients that are early wait."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        yield listener


@contextmanager
def held_lifeline() -> Iterator[int]:
    """What the server watches: it ends with the tests, however they end."""
    reader, writer = os.pipe()
    try:
        yield reader
    finally:
        os.close(reader)
        os.close(writer)


def environment_of(url: str) -> dict[str, str]:
    return os.environ | {
        "DJANGO_SETTINGS_MODULE": "tests.live_settings",
        "DATABASE_URL": postgres.url("hub_app", connection.settings_dict["NAME"]),
        "SECRET_KEY": settings.SECRET_KEY,
        "KEY_PEPPER": settings.KEY_PEPPER,
        "KEYRING": settings.KEYRING,
        "PUBLIC_URL": url,
        "LOG_LEVEL": "WARNING",
    }


def start(
    application: str, listener: socket.socket, line: int, log: IO[bytes], environment: dict[str, str]
) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-m", "tests.serve", application, str(listener.fileno())]
    return subprocess.Popen(
        command, env=environment, pass_fds=[listener.fileno(), line], stdout=log, stderr=log
    )


def wait_until_ready(url: str, process: subprocess.Popen[bytes], log: IO[bytes]) -> None:
    """Any answer will do: the port has been listening all along."""
    try:
        urllib.request.urlopen(f"{url}/mcp", timeout=READY_WITHIN)
    except urllib.error.HTTPError as answer:
        answer.close()
    except (OSError, urllib.error.URLError) as fault:
        log.seek(0)
        raise AssertionError(
            f"The server did not start ({process.poll()}):\n{log.read().decode()}"
        ) from fault


def stop(process: subprocess.Popen[bytes]) -> None:
    process.send_signal(signal.SIGTERM)
    try:
        process.wait(GONE_WITHIN)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
