"""Making a database cluster and its configuration. Everything here happens before a server runs on it."""

from __future__ import annotations

import shutil
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from memoryhub.running.binaries import Binaries
from memoryhub.running.errors import SetupError
from memoryhub.running.identity import Identity

ADMIN = "hub_admin"
OWNER = "hub_owner"
APP = "hub_app"
DATABASE = "memoryhub"

Setting = str | int | float | bool

DEFAULTS: dict[str, Setting] = {
    "listen_addresses": "",
    "unix_socket_permissions": "0700",
    "port": 5432,
    "max_connections": 100,
    "shared_buffers": "256MB",
    "random_page_cost": 1.1,
    "jit": False,
    "max_parallel_workers_per_gather": 0,
    "timezone": "UTC",
    "log_timezone": "UTC",
    # A week of logs, without statements and without the details that quote stored rows.
    "logging_collector": True,
    "log_filename": "postgresql-%a.log",
    "log_truncate_on_rotation": True,
    "log_rotation_size": 0,
    "log_min_error_statement": "panic",
    "log_error_verbosity": "terse",
}
"""Replaces postgresql.conf; what `ALTER SYSTEM` sets still wins."""

FORGETFUL: dict[str, Setting] = {"fsync": False, "synchronous_commit": False, "full_page_writes": False}
"""Faster, and lost with the machine's next crash: for the test suite's own server only."""


@dataclass(frozen=True)
class Cluster:
    """A cluster in `home`: `data` and `log` belong to the server's user, the configuration does not."""

    home: Path
    identity: Identity

    @property
    def data(self) -> Path:
        return self.home / "data"

    @property
    def log(self) -> Path:
        return self.home / "log"

    @property
    def configuration(self) -> Path:
        return self.home / "postgresql.conf"

    @property
    def first_words(self) -> Path:
        """What a server says before it opens its own log."""
        return self.log / "start.log"

    def exists(self) -> bool:
        return (self.data / "PG_VERSION").exists()

    def check_version(self, binaries: Binaries) -> None:
        found = int((self.data / "PG_VERSION").read_text())
        if found != binaries.major:
            raise SetupError(
                f"The database in {self.data} was made by PostgreSQL {found}; installed is {binaries.major}, "
                f"which cannot read it. Install the release of Memory Hub that came with PostgreSQL {found}, "
                "back up there and restore here."
            )

    def make(self, binaries: Binaries, *, durable: bool, password: str | None) -> None:
        """Build the cluster beside its place, roles and all, then rename: it is there whole or not at all."""
        half = self.home / "data.half"
        shutil.rmtree(half, ignore_errors=True)
        half.mkdir(mode=0o700)
        self.identity.own(half)
        self._run(
            [
                *(binaries.program("initdb"), "-D", half, "-U", ADMIN, "--no-instructions", "--no-sync"),
                *("--encoding=UTF8", "--locale-provider=builtin", "--builtin-locale=C.UTF-8", "--locale=C"),
            ]
        )
        self._bootstrap(binaries, half, password)
        if durable:
            self._run([binaries.program("initdb"), "-D", half, "--sync-only"])
        half.rename(self.data)

    def _bootstrap(self, binaries: Binaries, data: Path, password: str | None) -> None:
        """Roles, extension and database, by a server in single-user mode: one statement a line."""
        with tempfile.TemporaryFile() as script:
            script.write("\n".join(_statements(password)).encode() + b"\n")
            script.seek(0)
            postgres, options = binaries.program("postgres"), ["-c", "exit_on_error=on", "-c", "fsync=off"]
            self._run([postgres, "--single", "-j", "-D", data, *options, "template1"], stdin=script)

    def _run(self, command: Sequence[str | Path], stdin: IO[bytes] | int = subprocess.DEVNULL) -> None:
        with tempfile.TemporaryFile() as output:
            process = self.identity.popen(command, output=output, stdin=stdin)
            if process.wait() != 0:
                output.seek(0)
                said = output.read().decode(errors="replace")[-2000:].strip()
                raise SetupError(f"{Path(command[0]).name} failed in {self.home}:\n{said}")

    def configure(self, sockets: Path, settings: Mapping[str, Setting], users: set[str]) -> None:
        """Write the configuration anew, in files the server's user can read but not change.

        Each of the operating system's `users` may log in as each role; nobody else may.
        """
        hba, ident = self.home / "pg_hba.conf", self.home / "pg_ident.conf"
        places = {"hba_file": hba, "ident_file": ident, "log_directory": self.log}
        values = DEFAULTS | {name: str(path) for name, path in places.items()}
        values |= {"unix_socket_directories": str(sockets)} | dict(settings)
        self._write(self.configuration, [f"{name} = {_quoted(value)}" for name, value in values.items()])
        self._write(hba, ["local all all peer map=hub", "host all all 127.0.0.1/32 scram-sha-256"])
        roles = (ADMIN, OWNER, APP)
        self._write(ident, [f'hub "{user}" {role}' for user in sorted(users) for role in roles])

    def _write(self, path: Path, lines: list[str]) -> None:
        new = path.with_suffix(".new")
        new.write_text("\n".join(lines) + "\n")
        new.chmod(0o644)
        new.replace(path)

    def last_words(self) -> str:
        """The end of the newest log: why a server did not start."""
        logs = sorted(self.log.glob("*.log"), key=lambda path: path.stat().st_mtime)
        return "".join(path.read_text(errors="replace")[-1500:] for path in logs[-2:])


def _statements(password: str | None) -> list[str]:
    secret = f" PASSWORD {_quoted(password)}" if password else ""
    return [
        f"CREATE ROLE {OWNER} LOGIN CREATEDB{secret};\n",
        f"CREATE ROLE {APP} LOGIN{secret};\n",
        "CREATE EXTENSION vector;\n",
        f"CREATE DATABASE {DATABASE} OWNER {OWNER};\n",
        f"REVOKE ALL ON DATABASE {DATABASE} FROM PUBLIC;\n",
        f"GRANT CONNECT, TEMPORARY ON DATABASE {DATABASE} TO {APP};\n",
    ]


def _quoted(value: Setting) -> str:
    text = ("on" if value else "off") if isinstance(value, bool) else str(value)
    return "'" + text.replace("'", "''") + "'"
