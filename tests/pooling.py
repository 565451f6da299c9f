"""A pgbouncer in transaction mode before the database of the tests."""

import contextlib
import os
import shutil
import signal
import socket
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from django.db import connection


@pytest.fixture
def pooled(tmp_path: Path, transactional_db: None) -> Iterator[int]:
    """The port of a pgbouncer in transaction mode, with fewer connections than there are callers."""
    port = free_port()
    at = connection.get_connection_params()
    database = f"host={at['host']} port={at.get('port') or 5432} dbname={at['dbname']} user=hub_app"
    config = tmp_path / "pgbouncer.ini"
    config.write_text(
        f"[databases]\n{at['dbname']} = {database}\n[pgbouncer]\nlisten_addr = 127.0.0.1\nlisten_port = {port}\n"
        "auth_type = any\npool_mode = transaction\ndefault_pool_size = 3\nmax_client_conn = 200\nunix_socket_dir =\n"
    )
    found = shutil.which("pgbouncer", path=f"{os.environ['PATH']}:/usr/sbin")
    assert found, "pgbouncer is missing: apt-get install pgbouncer"
    tmp_path.chmod(0o755)
    user = ["-u", Path(at["host"]).owner()] if os.geteuid() == 0 else []  # whom PostgreSQL lets in
    with Path(tmp_path / "log").open("wb") as log:
        process = subprocess.Popen([found, "-q", *user, str(config)], stdout=log, stderr=log)
        try:
            wait_for(port, process, tmp_path / "log")
            yield port
        finally:
            process.send_signal(signal.SIGINT)
            process.wait(10)


def wait_for(port: int, process: subprocess.Popen[bytes], log: Path) -> None:
    until = time.monotonic() + 20
    while time.monotonic() < until and process.poll() is None:
        with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), 1):
            return
    raise AssertionError(f"pgbouncer did not start: {log.read_text()}")


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return int(listener.getsockname()[1])


def through(port: int) -> dict[str, str]:
    """The application's login on pooled connections, which remember no statement."""
    url = f"postgres://hub_app@127.0.0.1:{port}/{connection.settings_dict['NAME']}"
    return {"DATABASE_URL": url, "DATABASE_PREPARED_STATEMENTS": ""}
