"""What an earlier server left in a data directory when it, or the whole machine, died.

PostgreSQL trusts the process id in postmaster.pid: it won't start while that id answers, though it may by now
belong to another program (ids restart with a container) or to a zombie nobody collects.
"""

from __future__ import annotations

import contextlib
import signal
import time
from collections.abc import Iterable, Iterator
from pathlib import Path

import psutil

GRACE = 5.0
"""Seconds in which the backends of a dead postmaster notice and leave by themselves."""


def postmaster(data: Path) -> psutil.Process | None:
    """The living postmaster of `data`, or None when its lock file is missing, stale or speaks of others."""
    try:
        process = psutil.Process(_recorded_pid(data))
        return process if _works_in(process, data) else None
    except (FileNotFoundError, ValueError, IndexError, psutil.Error):
        return None


def clear_leftovers(data: Path, sockets: Path) -> None:
    """Make room for a new server: end orphaned backends, then drop the lock files, which speak of nobody."""
    if postmaster(data) is not None:
        return
    orphans = list(_processes_in(data))
    for end in (signal.SIGQUIT, signal.SIGKILL):
        if wait_until_gone(orphans, GRACE):
            break
        for orphan in orphans:
            with contextlib.suppress(psutil.Error):
                orphan.send_signal(end)
    wait_until_gone(orphans, GRACE)
    for lock in (data / "postmaster.pid", *sockets.glob(".s.PGSQL.*")):
        lock.unlink(missing_ok=True)


def wait_until_gone(processes: Iterable[psutil.Process], timeout: float) -> bool:
    """Whether all of them ended in time. A zombie has ended, whether or not somebody collects it."""
    deadline = time.monotonic() + timeout
    while any(_runs(process) for process in processes):
        if time.monotonic() > deadline:
            return False
        time.sleep(0.01)
    return True


def _runs(process: psutil.Process) -> bool:
    try:
        return bool(process.is_running() and process.status() != psutil.STATUS_ZOMBIE)
    except psutil.Error:
        return False


def _recorded_pid(data: Path) -> int:
    return int((data / "postmaster.pid").read_text().split()[0])


def _processes_in(data: Path) -> Iterator[psutil.Process]:
    """Servers and backends: each makes the data directory its working directory."""
    for process in psutil.process_iter():
        if _works_in(process, data):
            yield process


def _works_in(process: psutil.Process, data: Path) -> bool:
    try:
        return _runs(process) and process.cwd() == str(data) and process.name().startswith("postgres")
    except psutil.Error:
        return False
