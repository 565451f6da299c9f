"""The same code as separate processes, on a PostgreSQL and a Redis that are not ours."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import httpx2 as httpx

from memoryhub.running.postgres import EmbeddedPostgres
from tests.running_e2e.harness import PATIENCE, Person, free_port, read, until

REDIS = shutil.which("redis-server")


@dataclass
class Redis:
    """A Redis that keeps nothing, on a port that stays its own."""

    place: Path
    port: int = field(default_factory=free_port)
    process: subprocess.Popen[bytes] | None = None

    @property
    def url(self) -> str:
        return f"redis://127.0.0.1:{self.port}"

    def start(self) -> None:
        command = [str(REDIS), "--port", str(self.port), "--bind", "127.0.0.1", "--dir", str(self.place)]
        with (self.place / "redis.log").open("ab") as log:
            self.process = subprocess.Popen(
                [*command, "--save", "", "--appendonly", "no"], stdout=log, stderr=log
            )

    def kill(self) -> None:
        assert self.process
        self.process.kill()
        self.process.wait()

    def __enter__(self) -> Redis:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.kill()


@contextmanager
def process(command: list[str], environ: Mapping[str, str], log: Path) -> Iterator[None]:
    with log.open("wb") as output:
        running = subprocess.Popen(command, env=dict(environ), stdout=output, stderr=output)
        try:
            yield
        finally:
            running.send_signal(signal.SIGTERM)
            assert running.wait(PATIENCE) in (0, -signal.SIGTERM), log.read_text()


@contextmanager
def database(place: Path) -> Iterator[EmbeddedPostgres]:
    password = "none of ours / at all"  # has to be quoted in a URL
    with EmbeddedPostgres(place / "pg", tcp_port=free_port(), password=password) as postgres:
        yield postgres


@contextmanager
def apart(person: Person) -> Iterator[tuple[dict[str, str], Redis]]:
    """Web, worker and beat, each on its own, told by URL where to find the rest; the first run's file."""
    place = person.home
    port = free_port()
    with ExitStack() as stack:
        postgres = stack.enter_context(database(place))
        redis = stack.enter_context(Redis(place))
        environ = {
            **os.environ,
            "DJANGO_SETTINGS_MODULE": "memoryhub.settings",
            "MEMORYHUB_DATA_DIR": str(place / "data"),
            "DATABASE_URL": postgres.url("hub_app"),
            "DATABASE_OWNER_URL": postgres.url("hub_owner"),
            "CELERY_BROKER_URL": f"{redis.url}/0",
            "CHANNEL_LAYER_URL": f"{redis.url}/1",
            "CACHE_URL": f"{redis.url}/2",
            "SECRET_KEY": "a key of this test",
            "KEY_PEPPER": "a pepper of this test",
            "PUBLIC_URL": f"http://localhost:{port}",
            "LOG_LEVEL": "WARNING",
        }
        python = person.command("-m")["args"]
        subprocess.run([*python, "memoryhub", "prepare"], env=environ, check=True)
        web = ["uvicorn", "memoryhub.asgi:application", "--port", str(port), "--log-level", "warning"]
        celery = ["celery", "--quiet", "--app", "memoryhub"]
        for name, command in {
            "web": web,
            "worker": [*celery, "worker"],
            "beat": [*celery, "beat", "--pidfile="],
        }.items():
            stack.enter_context(process([*python, *command], environ, place / f"{name}.log"))
        until(lambda: _ready(environ["PUBLIC_URL"]), "readiness")
        yield read(place / "data" / "first-run.json"), redis


def _ready(url: str) -> bool:
    try:
        return httpx.get(f"{url}/readyz", timeout=10).status_code == 200
    except httpx.HTTPError:
        return False
