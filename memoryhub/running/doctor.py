"""`memoryhub doctor`: what is wrong with a setup, and what to do about it."""

from __future__ import annotations

import os
import shutil
import socket
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

import click

from memoryhub.common.env import BadEnvironment
from memoryhub.running.binaries import find_binaries
from memoryhub.running.errors import SetupError
from memoryhub.running.files import read_json
from memoryhub.running.identity import database_identity
from memoryhub.running.instance import Instance, find_data_dir, open_instance
from memoryhub.running.processes import is_running

LOW_DISK = 1 << 30
SKEW = 2.0
MARKS = {"good": ("✓", "green"), "note": ("·", "yellow"), "bad": ("✗", "red")}


@dataclass(frozen=True)
class Finding:
    """`level` is good, note (works, but look at it) or bad (does not work)."""

    check: str
    level: str
    said: str

    @property
    def bad(self) -> bool:
        return self.level == "bad"

    def as_dict(self) -> dict[str, str]:
        return asdict(self)

    def as_line(self) -> str:
        mark, color = MARKS[self.level]
        return f"{click.style(mark, fg=color)} {self.check}: {self.said}"


def examine(data_dir: Path | None, port: int) -> list[Finding]:
    """Every check in turn; those of the database only where there is one and it starts."""
    instance = Instance(find_data_dir(data_dir))
    return [
        _python(),
        _programs(instance),
        *_data_directory(instance),
        _listening(instance, port),
        *_in_the_database(data_dir, instance),
    ]


def _finding(check: str, fault: str | None, good: str, level: str = "bad") -> Finding:
    return Finding(check, level, fault) if fault else Finding(check, "good", good)


def _python() -> Finding:
    version = ".".join(map(str, sys.version_info[:3]))
    old = f"{version} is too old: Memory Hub needs Python 3.11 or newer."
    return _finding("Python", old if sys.version_info < (3, 11) else None, version)


def _programs(instance: Instance) -> Finding:
    if not instance.embedded:
        return Finding("PostgreSQL", "good", "your own, by DATABASE_URL")
    try:
        binaries = find_binaries()
    except SetupError as error:
        return Finding("PostgreSQL", "bad", str(error))
    return Finding("PostgreSQL", "good", f"{binaries.major} from {binaries.package}")


def _data_directory(instance: Instance) -> Iterator[Finding]:
    place = instance.data_dir
    if not place.exists():
        yield Finding("Data directory", "note", f"{place} does not exist yet; `memoryhub up` makes it.")
        return
    closed = None if os.access(place, os.R_OK | os.W_OK | os.X_OK) else f"{place} is not yours to write to."
    yield _finding("Data directory", closed or _unreachable(instance), str(place))
    yield _finding("Secrets", _exposed(instance), "readable by you alone")
    yield _disk(place)


def _unreachable(instance: Instance) -> str | None:
    """Whether the server's user is kept out of the data directory."""
    if not instance.embedded:
        return None
    try:
        identity = database_identity(instance.embedded.home / "data")
    except (SetupError, OSError) as error:
        return str(error)
    if identity.can("x", instance.data_dir):
        return None
    return f"PostgreSQL runs as {identity.name!r}, who cannot reach {instance.data_dir}. Choose another."


def _exposed(instance: Instance) -> str | None:
    files = [path for path in (instance.secrets_file, instance.first_run_file) if path.exists()]
    open_ones = [path.name for path in files if path.stat().st_mode & 0o077]
    if not open_ones:
        return None
    return f"Others can read {' and '.join(open_ones)}. Run `chmod 600` on it, and make new keys."


def _disk(place: Path) -> Finding:
    free = shutil.disk_usage(place).free
    short = f"Only {free >> 20} MiB are free at {place}." if free < LOW_DISK else None
    return _finding("Disk", short, f"{free >> 30} GiB free", "note")


def _listening(instance: Instance, port: int) -> Finding:
    state = read_json(instance.state_file)
    if is_running(state):
        return Finding("Service", "good", f"running at {state['url']} (process {state['pid']})")
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
        except OSError as error:
            return Finding(
                "Service", "bad", f"not running, and port {port} cannot be used: {error.strerror}."
            )
    return Finding("Service", "note", f"not running; port {port} is free for `memoryhub up`.")


def _in_the_database(data_dir: Path | None, instance: Instance) -> Iterator[Finding]:
    if instance.embedded and not (instance.embedded.home / "data").exists():
        yield Finding("Database", "note", "not made yet; `memoryhub up` makes it.")
        return
    try:
        with open_instance(data_dir):
            import django

            django.setup()
            yield from _database_checks(is_running(read_json(instance.state_file)))
    except SetupError as error:
        yield Finding("Database", "bad", str(error))
    except BadEnvironment as error:
        yield Finding("Environment", "bad", str(error))


def _database_checks(serving: bool) -> Iterator[Finding]:
    from django.db import DatabaseError, connection

    checks: list[Callable[[], Finding]] = [_login, _extension, _clock, _migrations]
    try:
        for check in [*checks, _worker, _meaning] if serving else checks:
            yield check()
    except DatabaseError as error:
        yield Finding("Database", "bad", f"does not answer: {str(error).splitlines()[0]}")
    finally:
        connection.close()


def _one(query: str) -> tuple[object, ...]:
    from django.db import connection

    with connection.cursor() as cursor:
        cursor.execute(query)
        return tuple(cursor.fetchone() or ())


def _login() -> Finding:
    version, user, powers = _one(
        "select current_setting('server_version'), current_user, rolsuper or rolbypassrls"
        " from pg_roles where rolname = current_user"
    )
    wrong = (
        f"{user} may pass by row-level security. Let DATABASE_URL name a login that may not."
        if powers
        else None
    )
    return _finding("Database", wrong, f"PostgreSQL {version} answers {user}")


def _extension() -> Finding:
    found = _one("select extversion from pg_extension where extname = 'vector'")
    missing = "The extension vector is missing. Run `CREATE EXTENSION vector` in the database as a superuser."
    return _finding("pgvector", None if found else missing, str(found[0]) if found else "")


def _clock() -> Finding:
    (theirs,) = _one("select extract(epoch from clock_timestamp())::float8")
    skew = float(str(theirs)) - time.time()
    fault = (
        f"The database's clock is {skew:+.0f} s from this machine's. Set both by NTP."
        if abs(skew) > SKEW
        else None
    )
    return _finding("Clock", fault, "agrees with the database's")


def waiting_migrations() -> int:
    from django.db import connection
    from django.db.migrations.executor import MigrationExecutor

    executor = MigrationExecutor(connection)
    return len(executor.migration_plan(executor.loader.graph.leaf_nodes()))


def _migrations() -> Finding:
    waiting = waiting_migrations()
    fault = f"{waiting} wait. `memoryhub up` runs them, or `memoryhub manage migrate`." if waiting else None
    return _finding("Migrations", fault, "all done")


def _worker() -> Finding:
    from memoryhub.health import worker_lives

    silent = (
        None if worker_lives() else "No worker has been heard of lately. Look at what `memoryhub up` says."
    )
    return _finding("Worker", silent, "at work")


def _meaning() -> Finding:
    from spaces.domain.embeddings.status import embedding_status

    status = embedding_status()
    if status.state == "ready":
        return Finding("Search", "good", f"by meaning, with {status.model}, and by words")
    why = status.note or "no server that embeds is configured"
    return Finding("Search", "note", f"by words alone: {why}")
