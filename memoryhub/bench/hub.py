"""A hub of its own for a measurement, with a database that keeps its promises, gone afterwards."""

import json
import os
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import django

from accounts.domain.waking import LONGEST
from memoryhub.running import prepare
from memoryhub.running.instance import Instance, open_instance

CALM = {"LOG_LEVEL": "WARNING", "PUBLIC_URL": "http://localhost"}
ELSEWHERE = ("DATABASE_URL", "DATABASE_OWNER_URL", "CACHE_URL", "CHANNEL_LAYER_URL", "MEMORYHUB_DATA_DIR")


@dataclass(frozen=True)
class Hub:
    key: str


@contextmanager
def throwaway_hub() -> Iterator[Hub]:
    """Afterwards this process is set up as the hub's application. A measurement runs once in a process."""
    for name in ELSEWHERE:
        os.environ.pop(name, None)
    os.environ.update(CALM)
    with tempfile.TemporaryDirectory(prefix="memoryhub-bench-") as folder:
        Path(folder).chmod(
            0o711 if os.geteuid() == 0 else 0o700
        )  # the database server may run as another user
        instance = Instance(Path(folder) / "hub")
        with running(instance):
            prepare.migrate(os.environ)
            prepare.first_run(os.environ)
            django.setup()
            yield Hub(key=json.loads(instance.first_run_file.read_text())["agent_key"])
            time.sleep(2 * LONGEST)  # workers are told of the last writes, by messages in that folder


@contextmanager
def running(instance: Instance) -> Iterator[None]:
    instance.make()
    postgres = instance.embedded
    assert postgres is not None
    with postgres, open_instance(instance.data_dir):
        yield
