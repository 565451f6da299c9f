"""An embedded PostgreSQL that several programs share: the first one starts it, the last one stops it."""

from __future__ import annotations

import fcntl
import hashlib
import logging
import os
import pwd
import signal
import stat
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import Self
from urllib.parse import quote

import psutil

from memoryhub.running.binaries import find_binaries, reachable_binaries
from memoryhub.running.cluster import ADMIN, APP, DATABASE, FORGETFUL, Cluster, Setting
from memoryhub.running.errors import SetupError
from memoryhub.running.files import locked, open_lock
from memoryhub.running.identity import Identity, database_identity
from memoryhub.running.leftovers import clear_leftovers, postmaster, wait_until_gone
from memoryhub.running.probe import Answer, ask

log = logging.getLogger(__name__)

LONGEST_SOCKET_PATH = 100
"""Bytes, lock file included; the kernel's limit is 104 on macOS and 108 on Linux."""


class EmbeddedPostgres:
    """A server for the data in `home`, held by every object between its `start` and its `stop`.

    Holding is a shared lock on a file, so a holder that is killed lets go. A server whose holders
    are all gone keeps running until the next one comes, takes it over and stops it. Nobody listens on the
    network unless `tcp_port` is given, and then on the loopback with `password` (which a new cluster's roles
    are given). `durable=False` is for tests.
    """

    def __init__(
        self,
        home: Path,
        settings: Mapping[str, Setting] | None = None,
        *,
        durable: bool = True,
        tcp_port: int | None = None,
        password: str | None = None,
    ) -> None:
        self.home = Path(home).absolute()
        self.durable = durable
        self.tcp_port = tcp_port
        self.password = password
        self.settings = ({} if durable else FORGETFUL) | _tcp_settings(tcp_port) | dict(settings or {})
        self._held: int | None = None

    # Where it answers

    @property
    def sockets(self) -> Path:
        """The directory of the socket, closed to others. Beside the data, unless the path gets too long."""
        near = self.home / "run"
        if len(os.fsencode(near / f"{self._socket_name}.lock")) <= LONGEST_SOCKET_PATH:
            return near
        return Path(tempfile.gettempdir()) / f"memoryhub-{hashlib.sha256(os.fsencode(near)).hexdigest()[:16]}"

    @property
    def _socket_name(self) -> str:
        return f".s.PGSQL.{self.tcp_port or 5432}"

    def url(self, role: str = APP, database: str = DATABASE) -> str:
        if self.tcp_port:
            password = quote(self.password or "", safe="")
            return f"postgres://{role}:{password}@127.0.0.1:{self.tcp_port}/{database}"
        return f"postgres://{role}@{quote(str(self.sockets), safe='')}/{database}"

    def alive(self) -> bool:
        """Whether sessions can be opened now."""
        return self._ask() is Answer.READY

    def _ask(self) -> Answer:
        return ask(self.sockets / self._socket_name, ADMIN, DATABASE)

    @property
    def _turn(self) -> Path:
        """One at a time may start or stop a server in `home`."""
        return self.home / "boot.lock"

    @property
    def pid(self) -> int | None:
        """The process id of the running server."""
        process = postmaster(self.home / "data")
        return process.pid if process else None

    # Starting and stopping

    def start(self) -> Self:
        """Hold the server, making and starting it where needed. Returns when sessions can be opened.

        A holder calls it again to mend a server that died; where that fails, it holds nothing any more. Recovery
        after a crash takes as long as it takes.
        """
        self._make_home()
        identity = database_identity(self.home / "data")
        try:
            with locked(self._turn):
                self._hold()
                if not self.alive():
                    self._bring_up(identity)
        except BaseException:
            self.stop()
            raise
        return self

    def _hold(self) -> None:
        if self._held is None:
            self._held = open_lock(self.home / "users.lock")
            fcntl.flock(self._held, fcntl.LOCK_SH)

    def stop(self) -> None:
        """Let go; the last one stops the server."""
        if self._held is None:
            return
        with locked(self._turn):
            held, self._held = self._held, None
            last = _is_last(held)
            os.close(held)
            if last:
                self._shut_down()

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()

    def _make_home(self) -> None:
        """Make missing directories, passable for the server's user if that is another; touch no others."""
        mode = 0o711 if os.geteuid() == 0 else 0o700
        try:
            for path in (*reversed(self.home.parents), self.home):
                if not path.exists():
                    path.mkdir(exist_ok=True)
                    path.chmod(mode)
        except PermissionError as error:
            raise SetupError(
                f"{_own_name()!r} may not make or enter {error.filename}. Choose another --data-dir."
            ) from None

    def _bring_up(self, identity: Identity) -> None:
        self._check_passage(identity)
        cluster = Cluster(self.home, identity)
        self._wait_until_ready(cluster, postmaster(cluster.data) or self._launch(cluster))

    def _check_passage(self, identity: Identity) -> None:
        if not identity.can("x", self.home):
            raise SetupError(
                f"PostgreSQL does not run as root; it would run as {identity.name!r}, "
                f"who cannot reach {self.home}. Choose a --data-dir that others can pass through, "
                "such as /var/lib/memoryhub, or run Memory Hub as an ordinary user."
            )

    def _launch(self, cluster: Cluster) -> psutil.Process:
        binaries = reachable_binaries(find_binaries(), cluster.identity, self.home)
        if not cluster.exists():
            cluster.make(binaries, durable=self.durable, password=self.password)
        cluster.check_version(binaries)
        for path in (self.sockets, cluster.log):
            _make_private(path, cluster.identity)
        cluster.configure(self.sockets, self.settings, {cluster.identity.name, _own_name()})
        clear_leftovers(cluster.data, self.sockets)
        command: list[str | Path] = [binaries.program("postgres"), "-D", cluster.data]
        command += ["-c", f"config_file={cluster.configuration}"]
        return cluster.identity.detach(command, output=cluster.first_words)

    def _wait_until_ready(self, cluster: Cluster, server: psutil.Process) -> None:
        began = told = time.monotonic()
        while not self.alive():
            if wait_until_gone([server], timeout=0.02):
                raise SetupError(f"PostgreSQL did not start in {self.home}. It said:\n{cluster.last_words()}")
            if time.monotonic() - told > 10:
                told = time.monotonic()
                log.warning("PostgreSQL is recovering after a crash (%d s so far)", told - began)

    def _shut_down(self) -> None:
        """Fast, then without waiting for anybody; either way committed data is safe."""
        process = postmaster(self.home / "data")
        for end in (signal.SIGINT, signal.SIGQUIT):
            if process is not None:
                process.send_signal(end)
                if wait_until_gone([process], timeout=60):
                    return


def _tcp_settings(port: int | None) -> dict[str, Setting]:
    return {"listen_addresses": "127.0.0.1", "port": port} if port else {}


def _is_last(users: int) -> bool:
    fcntl.flock(users, fcntl.LOCK_UN)
    try:
        fcntl.flock(users, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _own_name() -> str:
    return pwd.getpwuid(os.geteuid()).pw_name


def _make_private(path: Path, identity: Identity) -> None:
    """A directory for `identity` alone. One that somebody else made in a shared place is refused."""
    try:
        path.mkdir(mode=0o700)
        identity.own(path)
    except FileExistsError:
        found = path.lstat()
        if not stat.S_ISDIR(found.st_mode) or found.st_uid != identity.uid or found.st_mode & 0o077:
            raise SetupError(
                f"{path} must be a directory that only {identity.name!r} can enter, and it is not. Remove it."
            ) from None
