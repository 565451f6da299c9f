from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import psutil
import pytest

from memoryhub.running import processes
from memoryhub.running.lifeline import VARIABLE
from memoryhub.running.processes import Child, end_strays, identify, is_running, stop_all

SLEEPER = "import time; time.sleep(600)"
STUBBORN = """
import pathlib, signal, time
signal.signal(signal.SIGTERM, signal.SIG_IGN)
pathlib.Path({!r}).touch()
time.sleep(600)
"""

MakeChild = Callable[[str], Child]


@pytest.fixture
def make_child() -> Iterator[MakeChild]:
    made: list[Child] = []

    def make(script: str) -> Child:
        made.append(Child("child", [sys.executable, "-c", script], dict(os.environ)))
        return made[-1]

    yield make
    for child in made:
        child.end(signal.SIGKILL)
        child.process and child.process.wait()


def pid_of(child: Child) -> int:
    assert child.process
    return child.process.pid


def test_a_child_that_was_killed_is_noticed_and_started_again(
    make_child: MakeChild, caplog: pytest.LogCaptureFixture
) -> None:
    child = make_child(SLEEPER)
    assert child.tend()
    first = pid_of(child)
    assert not child.tend()
    os.kill(first, signal.SIGKILL)
    while not child.tend():
        pass
    assert pid_of(child) != first
    assert f"child (process {first}) was ended by SIGKILL; starting it again now" in caplog.text


def test_a_child_that_keeps_failing_is_started_ever_more_slowly(
    make_child: MakeChild, caplog: pytest.LogCaptureFixture
) -> None:
    child = make_child("raise SystemExit(3)")
    child.tend()
    for _ in range(8):
        assert child.process
        child.process.wait()
        child.tend()
        child.due = 0.0
        child.tend()
    waits = [str(record.args[-1]) for record in caplog.records if isinstance(record.args, tuple)]
    assert waits == ["now", "in 1 s", "in 2 s", "in 4 s", "in 8 s", "in 16 s", "in 30 s", "in 30 s"]
    assert "ended with code 3" in caplog.text


def test_stopping_asks_first_and_insists_later(
    make_child: MakeChild, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(processes, "GRACE", 0.2)
    polite, stubborn = make_child(SLEEPER), make_child(STUBBORN.format(str(tmp_path / "deaf")))
    polite.tend()
    stubborn.tend()
    while not (tmp_path / "deaf").exists():
        pass
    stop_all([polite, stubborn])
    codes = [child.process and child.process.returncode for child in (polite, stubborn)]
    assert codes == [-signal.SIGTERM, -signal.SIGKILL]


PARENT = f"""
import os, sys
from memoryhub.running.processes import Child
program = "from memoryhub.running.lifeline import hold_on; hold_on(); print(os.getpid(), flush=True);"
child = Child("child", [sys.executable, "-c", "import os;" + program + {SLEEPER!r}], dict(os.environ))
child.start()
child.process.wait()
"""


def test_a_child_ends_with_its_parent_even_if_that_was_killed() -> None:
    with subprocess.Popen([sys.executable, "-c", PARENT], stdout=subprocess.PIPE, text=True) as parent:
        assert parent.stdout
        child = psutil.Process(int(parent.stdout.readline()))
        parent.kill()
        parent.wait()
        parent.stdout.read()  # ends when the child, the last to hold the pipe, has ended
    _, alive = psutil.wait_procs([child], timeout=10)  # it holds the pipe no more, and is about to be gone
    assert not alive or child.status() == psutil.STATUS_ZOMBIE
    assert VARIABLE not in os.environ


def test_strays_of_an_earlier_run_are_ended_and_others_left_alone(make_child: MakeChild) -> None:
    stray, innocent = make_child(SLEEPER), make_child(SLEEPER)
    stray.tend()
    innocent.tend()
    reused = {**innocent.record, "created": 1.0}
    gone = {"name": "gone", "pid": 2**22 - 1, "created": 1.0}
    assert end_strays([stray.record, reused, gone, {"name": "unreadable"}]) == 1
    assert stray.process
    assert stray.process.wait() == -signal.SIGTERM
    assert innocent.process
    assert innocent.process.poll() is None


def test_a_process_is_known_by_its_id_and_its_start() -> None:
    record = identify(os.getpid())
    assert is_running(record)
    assert not is_running({**record, "created": 1.0})
    assert not is_running({})
