"""A whole Memory Hub under test: `memoryhub up` as a person would run it, as root or as an ordinary user."""

from __future__ import annotations

import getpass
import json
import os
import shutil
import signal
import site
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx2 as httpx
import psutil

ROOT = Path(__file__).resolve().parents[2]
PATIENCE = 90.0
SERVED = "Ctrl-C stops it."
ORDINARY = "daemon"
PEOPLE = ["root", ORDINARY] if os.geteuid() == 0 else [getpass.getuser()]


def until(condition: Callable[[], Any], what: str) -> Any:
    """Wait for something that another process does."""
    deadline = time.monotonic() + PATIENCE
    while time.monotonic() < deadline:
        if answer := condition():
            return answer
        time.sleep(0.02)
    raise AssertionError(f"waited {PATIENCE:.0f} s in vain: {what}")


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def read(path: Path) -> dict[str, Any]:
    return dict(json.loads(path.read_text()))


@dataclass(frozen=True)
class Person:
    """Whoever runs the commands, with a home directory of their own and nothing else in the environment."""

    name: str
    home: Path
    variables: Mapping[str, str] = field(default_factory=lambda: {"EMBEDDING_URL": "off"})

    def command(self, *arguments: str) -> dict[str, Any]:
        """Arguments of Popen for a Python of this person's."""
        environ = {
            "HOME": str(self.home),
            "PATH": os.environ["PATH"],
            "PYTHONPATH": ":".join([str(ROOT), *site.getsitepackages()]),
            "PYTHONUNBUFFERED": "1",
            **self.variables,
        }
        if self.name != ORDINARY:
            return {"args": [sys.executable, *arguments], "env": environ, "cwd": self.home}
        switch = {"user": ORDINARY, "group": ORDINARY, "extra_groups": []}
        return {"args": ["/usr/bin/python3", *arguments], "env": environ, "cwd": self.home, **switch}


@dataclass
class Hub:
    """An instance with a port of its own that lasts over several runs of `up`."""

    person: Person
    name: str = "hub"
    port: int = field(default_factory=free_port)
    process: subprocess.Popen[bytes] | None = None

    @property
    def data_dir(self) -> Path:
        return self.person.home / self.name

    @property
    def url(self) -> str:
        return f"http://localhost:{self.port}"

    @property
    def first_run(self) -> dict[str, str]:
        return read(self.data_dir / "first-run.json")

    @property
    def said(self) -> str:
        return (self.person.home / f"{self.name}.log").read_text()

    def memoryhub(self, *arguments: str) -> dict[str, Any]:
        return self.person.command("-m", "memoryhub", *arguments, "--data-dir", str(self.data_dir))

    def run(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(**self.memoryhub(*arguments), capture_output=True, text=True, check=False)

    def launch(self) -> None:
        """Start `up` without waiting for it, in a session of its own, as a terminal would."""
        with (self.person.home / f"{self.name}.log").open("wb") as log:
            command = self.memoryhub("up", "--port", str(self.port))
            self.process = subprocess.Popen(**command, stdout=log, stderr=log, start_new_session=True)

    def start(self) -> None:
        self.launch()
        until(lambda: SERVED in self.said or self.ended, "the first answer")
        assert not self.ended, self.said

    @property
    def ended(self) -> bool:
        return self.process is None or self.process.poll() is not None

    def press_ctrl_c(self) -> int:
        assert self.process
        os.killpg(self.process.pid, signal.SIGINT)
        return self.process.wait(PATIENCE)

    def kill(self) -> None:
        assert self.process
        self.process.kill()
        self.process.wait()

    def pid(self, name: str) -> int | None:
        """The process id of web, worker, beat or postgres, as recorded now."""
        try:
            if name == "postgres":
                return int((self.data_dir / "postgres/data/postmaster.pid").read_text().split()[0])
            records = read(self.data_dir / "running.json")["processes"]
        except (FileNotFoundError, IndexError):
            return None
        return next((int(record["pid"]) for record in records if record["name"] == name), None)

    def kill_child(self, name: str) -> None:
        """Kill it, and wait until another is in its place and everything is ready."""
        old = self.pid(name)
        assert old
        os.kill(old, signal.SIGKILL)
        until(lambda: self.pid(name) not in (None, old), f"another {name}")
        until(self.ready, f"readiness after {name} was killed")

    def ready(self) -> bool:
        try:
            return httpx.get(f"{self.url}/readyz", timeout=10).status_code == 200
        except httpx.HTTPError:
            return False

    def processes(self) -> list[str]:
        """Every living process that belongs to this instance."""
        return [found for process in psutil.process_iter() if (found := self._belonging(process))]

    def _belonging(self, process: psutil.Process) -> str | None:
        try:
            if process.status() == psutil.STATUS_ZOMBIE:
                return None
            places = [process.cwd(), *process.cmdline(), *process.environ().values()]
        except psutil.Error:
            return None
        mine = any(str(self.data_dir) in place for place in places)
        return f"{process.pid} {' '.join(process.cmdline())}" if mine else None


class Writer:
    """An agent that writes without pause and keeps the address of what was acknowledged."""

    def __init__(self, hub: Hub) -> None:
        self.hub = hub
        self.acknowledged: list[str] = []
        self.trouble = ""
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._write)

    @property
    def client(self) -> httpx.Client:
        headers = {"Authorization": f"Bearer {self.hub.first_run['agent_key']}"}
        return httpx.Client(base_url=f"{self.hub.url}/v1/", headers=headers, timeout=30)

    def _write(self) -> None:
        with self.client as client:
            number = 0
            while not self._stop.is_set():
                number += 1
                try:
                    address = (self._remember if number % 2 else self._propose)(
                        client, f"{id(self)}-{number}"
                    )
                except httpx.HTTPError as error:
                    self.trouble = repr(error)
                    continue
                self.acknowledged.append(address)

    def _remember(self, client: httpx.Client, name: str) -> str:
        answer = client.post("memories", json={"text": f"Fact {name} was stored."}).raise_for_status()
        return f"memories/{answer.json()['memory']['id']}"

    def _propose(self, client: httpx.Client, name: str) -> str:
        proposal = {"class": "note.write", "summary": "Write", "payload": {}, "idempotency_key": name}
        answer = client.post("actions", json=proposal).raise_for_status()
        return f"actions/{answer.json()['action']['uid']}"

    def wait_for(self, more: int = 20) -> None:
        goal = len(self.acknowledged) + more
        until(lambda: len(self.acknowledged) >= goal, f"writes (the last trouble before: {self.trouble})")

    def lost(self) -> list[str]:
        """What was acknowledged and is not there."""
        with self.client as client:
            return [address for address in self.acknowledged if client.get(address).status_code != 200]

    def __enter__(self) -> Writer:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        self._thread.join()


@contextmanager
def person_named(name: str, place: Path) -> Iterator[Person]:
    home = Path(tempfile.mkdtemp(prefix="", dir=place))
    home.chmod(0o711 if name == "root" else 0o700)
    if os.geteuid() == 0:
        shutil.chown(home, name)
    yield Person(name, home)


@contextmanager
def hub(owner: Person, name: str = "hub") -> Iterator[Hub]:
    """A hub that is gone afterwards, whatever the test left of it."""
    made = Hub(owner, name)
    try:
        yield made
    finally:
        if not made.ended:
            made.press_ctrl_c()
        for line in made.processes():
            os.kill(int(line.split()[0]), signal.SIGKILL)
