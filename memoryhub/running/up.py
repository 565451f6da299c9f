"""`memoryhub up`: one command that runs everything, and keeps it running."""

from __future__ import annotations

import http.client
import logging
import os
import signal
import socket
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, nullcontext
from pathlib import Path
from types import FrameType
from urllib.parse import urlsplit

import click

from memoryhub.common.logs import be_careful
from memoryhub.running import banner, folder_broker, prepare
from memoryhub.running.child import SOCKETS
from memoryhub.running.embedder import LAZY
from memoryhub.running.errors import SetupError
from memoryhub.running.files import locked, read_json, write_private
from memoryhub.running.instance import Instance, find_data_dir
from memoryhub.running.listening import LOOPBACK, is_exposed, listen, reachable
from memoryhub.running.postgres import EmbeddedPostgres
from memoryhub.running.processes import Child, end_strays, identify, python, stop_all

log = logging.getLogger("memoryhub")

GLANCE = 0.2
"""Seconds between two looks at the processes."""
ENDINGS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


def up(data_dir: Path | None, host: str, port: int, *, demo: bool = False) -> None:
    """Serve until interrupted. Raises SetupError when that is not possible here."""
    logging.basicConfig(level=logging.WARNING, format="%(asctime)s %(levelname)s %(name)s %(message)s")
    be_careful()
    instance = Instance(find_data_dir(data_dir))
    instance.make()
    with _alone(instance), _interruptible():
        click.echo(banner.STARTING)
        end_strays(_records(read_json(instance.state_file)))
        sockets = listen(host, port)
        os.environ.setdefault("PUBLIC_URL", _url(host, sockets[0].getsockname()[1]))
        with instance.embedded or nullcontext() as postgres:
            environ = _environment(instance)
            is_first = prepare.migrate(environ)
            folder_broker.clear(instance.broker)
            _Service(instance, postgres, environ, sockets).run(is_first, demo)


def prepare_only(data_dir: Path | None) -> str:
    """What `up` does before it serves, for processes that are started apart. Says what comes next."""
    instance = Instance(find_data_dir(data_dir))
    instance.make()
    with instance.embedded or nullcontext():
        environ = _environment(instance)
        if not prepare.migrate(environ):
            return banner.PREPARED
        prepare.first_run(environ)
        return banner.prepared(instance.first_run_file)


@contextmanager
def _alone(instance: Instance) -> Iterator[None]:
    """Only one `up` may serve a data directory."""
    with ExitStack() as stack:
        try:
            stack.enter_context(locked(instance.data_dir / "up.lock", wait=False))
        except BlockingIOError:
            state = read_json(instance.state_file)
            where = f" at {state['url']} (process {state['pid']})" if state else ""
            raise SetupError(
                f"Memory Hub is running already{where}, with its data in {instance.data_dir}."
            ) from None
        yield


@contextmanager
def _interruptible() -> Iterator[None]:
    """Every polite way to end this process is a KeyboardInterrupt, and that is a proper end."""

    def interrupt(number: int, frame: FrameType | None) -> None:
        raise KeyboardInterrupt

    for number in ENDINGS:
        if number != signal.SIGHUP or signal.getsignal(number) is not signal.SIG_IGN:  # as under nohup
            signal.signal(number, interrupt)
    try:
        yield
    except KeyboardInterrupt:
        click.echo("Stopped.")


def _url(host: str, port: int) -> str:
    everywhere = host in (LOOPBACK, "0.0.0.0", "::", "")  # noqa: S104
    name = "localhost" if everywhere else f"[{host}]" if ":" in host else host
    return f"http://{name}:{port}"


def _environment(instance: Instance) -> dict[str, str]:
    if not instance.embedded and not os.environ.get("DATABASE_OWNER_URL"):
        raise SetupError("DATABASE_URL is set. Set DATABASE_OWNER_URL too: the login that owns the tables.")
    return {"LOG_LEVEL": "WARNING", **os.environ, **instance.environment(os.environ)}


def _records(state: dict[str, object]) -> list[dict[str, object]]:
    found = state.get("processes")
    return [record for record in found if isinstance(record, dict)] if isinstance(found, list) else []


class _Service:
    """The processes of a running instance."""

    def __init__(
        self,
        instance: Instance,
        postgres: EmbeddedPostgres | None,
        environ: dict[str, str],
        sockets: Sequence[socket.socket],
    ) -> None:
        self.instance = instance
        self.postgres = postgres
        self.environ = environ
        self.url = environ.get("PUBLIC_URL") or os.environ["PUBLIC_URL"]
        self.address = reachable(sockets[0])
        self.bare = is_exposed(sockets[0]) and not self.url.startswith("https://")
        self.children = [
            self._child("web", sockets),
            self._child("worker"),
            self._child("beat"),
            *self._embedder(),
        ]

    def _child(self, name: str, sockets: Sequence[socket.socket] = ()) -> Child:
        descriptors = [sock.fileno() for sock in sockets]
        extra = {SOCKETS: ",".join(map(str, descriptors))} if sockets else {}
        return Child(name, python("memoryhub.running.child", name), self.environ | extra, descriptors)

    def _embedder(self) -> list[Child]:
        """Where another server embeds, ours stands by if it was ever used: until the change is through."""
        other = os.environ.get("EMBEDDING_URL", "")
        if other == "off" or (other and not self.instance.models.exists()):
            return []
        command = python("memoryhub.running.child", "embedder")
        return [Child("embedder", command, self.environ | ({LAZY: "1"} if other else {}))]

    def run(self, is_first: bool, demo: bool) -> None:
        threading.Thread(target=self._announce, args=[is_first, demo], daemon=True).start()
        try:
            while True:
                self._tend()
                time.sleep(GLANCE)
        finally:
            self._stop()

    def _tend(self) -> None:
        if self.postgres and self.postgres.pid is None:
            log.error("the database is gone; starting it again")
            self._mend_database(self.postgres)
        started = [child for child in self.children if child.tend()]
        if started:
            self._note_state()

    def _mend_database(self, postgres: EmbeddedPostgres) -> None:
        try:
            postgres.start()
        except SetupError as error:
            log.error("the database did not start: %s", error)
            time.sleep(5)

    def _note_state(self) -> None:
        processes = [child.record for child in self.children if child.process]
        write_private(
            self.instance.state_file, {**identify(os.getpid()), "url": self.url, "processes": processes}
        )

    def _announce(self, is_first: bool, demo: bool) -> None:
        """See to what is written first, wait for the first answer, then say where it is."""
        try:
            if is_first:
                prepare.first_run(self.environ)
            if demo and not prepare.demo(self.environ):
                click.echo(banner.NO_DEMO)
        except SetupError as error:
            log.error("%s", error)
        _await_answer(self.address, urlsplit(self.url).netloc)
        first = {name: str(value) for name, value in read_json(self.instance.first_run_file).items()}
        if is_first and first:
            click.echo(banner.welcome(first, self.instance.data_dir))
        else:
            click.echo(banner.again(self.url, self.instance.data_dir))
        if self.bare:
            click.echo(banner.UNENCRYPTED)

    def _stop(self) -> None:
        def insist(number: int, frame: FrameType | None) -> None:
            for child in self.children:
                child.end(signal.SIGKILL)

        for number in ENDINGS:
            signal.signal(number, insist)
        stop_all(self.children)
        self.instance.state_file.unlink(missing_ok=True)


def _await_answer(address: tuple[str, int], name: str) -> None:
    """A call made too early waits in the socket's queue until the web process takes it."""
    while True:
        connection = http.client.HTTPConnection(*address, timeout=60)
        try:
            connection.request("GET", "/healthz", headers={"Host": name})
            if connection.getresponse().status == http.HTTPStatus.OK:
                return
        except (OSError, http.client.HTTPException):
            pass
        finally:
            connection.close()
        time.sleep(GLANCE)
