import os
import socket
import stat
from pathlib import Path

import pytest

from memoryhub.running.embedder import _threads, listen_privately
from memoryhub.running.errors import SetupError
from memoryhub.running.instance import Instance
from memoryhub.running.postgres import LONGEST_SOCKET_PATH


def test_its_socket_is_for_its_own_user(tmp_path: Path) -> None:
    path = tmp_path / "run" / "embedder.sock"
    with listen_privately(path):
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
        assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700


def test_what_a_killed_embedder_left_is_cleared_away(tmp_path: Path) -> None:
    path = tmp_path / "embedder.sock"
    listen_privately(path).close()
    with listen_privately(path), socket.socket(socket.AF_UNIX) as caller:
        caller.connect(str(path))


def test_a_second_embedder_leaves_the_first_alone(tmp_path: Path) -> None:
    path = tmp_path / "embedder.sock"
    with listen_privately(path):
        with pytest.raises(SetupError, match="Another embedder"):
            listen_privately(path)
        with socket.socket(socket.AF_UNIX) as caller:
            caller.connect(str(path))


def test_a_long_path_gives_way_to_a_short_one(tmp_path: Path) -> None:
    near, far = Instance(Path("/srv/hub")), Instance(tmp_path / ("x" * LONGEST_SOCKET_PATH))
    assert near.embedder_socket == Path("/srv/hub/run/embedder.sock")
    assert len(os.fsencode(far.embedder_socket)) <= LONGEST_SOCKET_PATH
    assert far.embedder_socket != Instance(tmp_path / ("y" * LONGEST_SOCKET_PATH)).embedder_socket


def test_it_uses_the_processors_there_are_unless_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("EMBEDDER_THREADS", raising=False)
    assert 1 <= _threads() <= (os.cpu_count() or 1)
    monkeypatch.setenv("EMBEDDER_THREADS", "3")
    assert _threads() == 3
