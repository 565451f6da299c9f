"""Keeping processes running: start, notice a death, start again, stop."""

from __future__ import annotations

import logging
import os
import signal
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import psutil

from memoryhub.running import lifeline
from memoryhub.running.leftovers import wait_until_gone

log = logging.getLogger("memoryhub")

GRACE = 10.0
"""Seconds to finish what is being done before a process is killed."""
SETTLED = 5.0
"""A process that ran this long starts again at once; others wait longer each time."""
LONGEST_WAIT = 30.0


@dataclass
class Child:
    """A process to keep running. It hangs on a lifeline: a pipe that closes when this process is gone."""

    name: str
    command: Sequence[str]
    environ: Mapping[str, str]
    descriptors: Sequence[int] = ()
    process: subprocess.Popen[bytes] | None = None
    started: float = 0.0
    due: float = 0.0
    failures: int = 0
    _line: tuple[int, int] = field(default_factory=os.pipe)

    def start(self) -> None:
        reading = self._line[0]
        self.process = subprocess.Popen(
            list(self.command),
            env={**self.environ, lifeline.VARIABLE: str(reading)},
            pass_fds=[reading, *self.descriptors],
            stdin=subprocess.DEVNULL,
            start_new_session=True,
        )
        self.started = time.monotonic()

    def tend(self) -> bool:
        """Start it, again if it ended and when it is due. Whether it was started now."""
        now = time.monotonic()
        if self.process is not None and self.process.poll() is not None:
            self._note_end(self.process, now)
        if self.process is None and now >= self.due:
            self.start()
            return True
        return False

    def _note_end(self, process: subprocess.Popen[bytes], now: float) -> None:
        self.failures = 0 if now - self.started > SETTLED else self.failures + 1
        wait = min(0.5 * 2 ** (self.failures - 1), LONGEST_WAIT) if self.failures > 1 else 0.0
        self.process, self.due = None, now + wait
        when = f"in {wait:.0f} s" if wait >= 1 else "now"
        log.error("%s (process %d) %s; starting it again %s", self.name, process.pid, _how(process), when)

    def end(self, number: signal.Signals) -> None:
        if self.process is not None and self.process.poll() is None:
            self.process.send_signal(number)

    @property
    def record(self) -> dict[str, object]:
        """Enough to know the process again: ids are given out anew, ids with a start time are not."""
        assert self.process is not None
        return {"name": self.name, **identify(self.process.pid)}


def _how(process: subprocess.Popen[bytes]) -> str:
    code = process.returncode
    return f"was ended by {signal.Signals(-code).name}" if code < 0 else f"ended with code {code}"


def identify(pid: int) -> dict[str, object]:
    try:
        return {"pid": pid, "created": psutil.Process(pid).create_time()}
    except psutil.Error:
        return {"pid": pid, "created": 0}


def stop_all(children: Sequence[Child]) -> None:
    """Ask all at once, wait, then insist."""
    for child in children:
        child.end(signal.SIGTERM)
    deadline = time.monotonic() + GRACE
    for child in children:
        if child.process is not None:
            try:
                child.process.wait(max(0.0, deadline - time.monotonic()))
            except subprocess.TimeoutExpired:
                log.warning("%s (process %d) does not stop; killing it", child.name, child.process.pid)
                child.process.kill()
                child.process.wait()


def end_strays(records: Sequence[Mapping[str, object]]) -> int:
    """End what is left of an earlier run that was killed; how many there were."""
    strays = [stray for record in records if (stray := _find(record))]
    for number in (signal.SIGTERM, signal.SIGKILL):
        if wait_until_gone(strays, timeout=0):
            break
        for stray in strays:
            if stray.is_running():
                stray.send_signal(number)
        wait_until_gone(strays, GRACE)
    return len(strays)


def is_running(record: Mapping[str, object]) -> bool:
    return _find(record) is not None


def _find(record: Mapping[str, object]) -> psutil.Process | None:
    try:
        process = psutil.Process(int(str(record["pid"])))
        same = abs(process.create_time() - float(str(record["created"]))) < 1
        return process if same else None
    except (psutil.Error, KeyError, ValueError):
        return None


def python(module: str, *arguments: str) -> list[str]:
    return [sys.executable, "-m", module, *arguments]
