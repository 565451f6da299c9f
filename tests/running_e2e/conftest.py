from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.running_e2e.harness import PEOPLE, Hub, Person, hub, person_named


@pytest.fixture(scope="module")
def place() -> Iterator[Path]:
    """A short place that every user may pass through."""
    path = Path(tempfile.mkdtemp(prefix="hub-"))
    path.chmod(0o711 if os.geteuid() == 0 else 0o700)
    yield path
    shutil.rmtree(path)


@pytest.fixture(scope="module", params=PEOPLE)
def owner(request: pytest.FixtureRequest, place: Path) -> Iterator[Person]:
    with person_named(request.param, place) as made:
        yield made


@pytest.fixture(scope="module")
def instance(owner: Person) -> Iterator[Hub]:
    with hub(owner) as made:
        made.start()
        yield made


@pytest.fixture
def running(instance: Hub) -> Hub:
    """The module's instance, running whatever the test before did to it."""
    if instance.ended:
        instance.start()
    return instance
