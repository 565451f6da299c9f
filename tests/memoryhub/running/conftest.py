from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest


@pytest.fixture
def place() -> Iterator[Path]:
    """A directory with a short name that other users may pass through, as pytest's own ones are not."""
    path = Path(tempfile.mkdtemp(prefix="hub-"))
    path.chmod(0o711 if os.geteuid() == 0 else 0o700)
    yield path
    shutil.rmtree(path)
