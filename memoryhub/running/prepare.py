"""`python -m memoryhub.running.prepare migrate|first-run`: what `memoryhub up` does before it serves.

Each is a process of its own, since one logs in as the owner of the tables and the other as the application.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path

import django

from memoryhub.running.errors import SetupError


def migrate() -> None:
    from django.core.management import call_command

    call_command("migrate", interactive=False, verbosity=1)


def first_run() -> None:
    from django.conf import settings

    from memoryhub.common.ids import typed_id
    from memoryhub.flows.first_run import FirstRun, ensure_first_run
    from memoryhub.running.files import write_private
    from memoryhub.running.instance import Instance

    def keep(first: FirstRun) -> None:
        content = {
            "url": settings.PUBLIC_URL,
            "mcp_url": f"{settings.PUBLIC_URL}/mcp",
            "owner_url": f"{settings.PUBLIC_URL}/welcome/{first.owner_token}/",
            "account_id": typed_id("acc", first.account_id),
            "space_id": typed_id("spc", first.space_id),
            "agent_key": first.agent_key,
        }
        write_private(Instance(Path(os.environ["MEMORYHUB_DATA_DIR"])).first_run_file, content)

    ensure_first_run(keep)


STEPS = {"migrate": migrate, "first-run": first_run}


def run(step: str, environ: Mapping[str, str]) -> None:
    """Run a step in a process of its own."""
    role = {"MEMORYHUB_DB_ROLE": "owner"} if step == "migrate" else {}
    command = [sys.executable, "-m", __spec__.name, step]
    with tempfile.TemporaryFile() as output:
        done = subprocess.run(
            command,
            env={**environ, **role},
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            check=False,
        )
        if done.returncode != 0:
            output.seek(0)
            raise SetupError(f"The step {step!r} failed:\n{output.read().decode(errors='replace')[-4000:]}")


def main() -> None:
    django.setup()
    STEPS[sys.argv[1]]()


if __name__ == "__main__":
    main()
