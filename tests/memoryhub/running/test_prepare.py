import os
import subprocess
import sys
from pathlib import Path

import pytest

from memoryhub.running import prepare
from memoryhub.running.errors import SetupError

FAULT = "WORKER_THREADS must be a whole number."
ENVIRON = {**os.environ, "WORKER_THREADS": "many"}


def test_a_variable_that_can_not_be_read_is_all_that_is_said_of_a_failed_start() -> None:
    with pytest.raises(SetupError) as failed:
        prepare.migrate(ENVIRON)
    assert str(failed.value) == FAULT


def test_a_command_beside_a_database_of_ones_own_says_in_a_line_what_can_not_be_read(tmp_path: Path) -> None:
    command = [sys.executable, "-c", "from memoryhub.cli import main; main()", "audit", "verify"]
    environ = {**ENVIRON, "MEMORYHUB_DATA_DIR": str(tmp_path / "not-yet")}
    done = subprocess.run(command, env=environ, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (1, "", f"memoryhub: {FAULT}\n")
