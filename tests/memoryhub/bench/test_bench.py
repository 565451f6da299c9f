"""The measurements run, on a hub of their own, and print their tables. What they measure is no test's business."""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest


def bench(*arguments: str) -> str:
    """What the command printed; 1 only says that a limit was missed."""
    with tempfile.TemporaryDirectory() as folder:
        environment = {**os.environ, "DJANGO_SETTINGS_MODULE": "", "TMPDIR": folder}
        Path(folder).chmod(0o755)
        done = subprocess.run(
            [sys.executable, "-m", "memoryhub", "bench", *arguments],
            env={name: value for name, value in environment.items() if value},
            capture_output=True,
            text=True,
            timeout=300,
            check=False,
        )
        assert done.returncode in (0, 1), done.stderr
        assert list(Path(folder).iterdir()) == []
    return done.stdout


def test_reads_are_measured_on_both_wires() -> None:
    printed = bench("mcp", "--rounds", "2", "--calls", "5")
    names = ("bare route, the same read", "MCP 2025-11-25, kv_get", "MCP 2026-07-28, kv_get")
    for name in (*names, "MCP 2025-11-25, kv_get, nothing asked", "permission checks"):
        assert name in printed


@pytest.mark.slow
def test_writes_are_measured_with_many_clients() -> None:
    printed = bench("writes", "--clients", "2", "--each", "3")
    assert "MCP, remember, 2 clients" in printed
