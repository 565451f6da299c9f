"""`python -m memoryhub.running.prepare migrate|first-run|demo`: what `memoryhub up` does before it serves.

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

from memoryhub.common.env import BadEnvironment
from memoryhub.running.errors import SetupError

NO_TEAM = "There is no team yet."
IN_USE = "Something was written here already."


def migrate(environ: Mapping[str, str]) -> bool:
    """Bring the schema up to date, as its owner. Whether a first run is to follow."""
    return NO_TEAM in _run("migrate", {**environ, "MEMORYHUB_DB_ROLE": "owner"})


def first_run(environ: Mapping[str, str]) -> None:
    """Make the first team and write down its secrets, as the application."""
    _run("first-run", environ)


def demo(environ: Mapping[str, str]) -> bool:
    """Fill the first space with what a team might have written. Whether: never beside what somebody wrote."""
    return IN_USE not in _run("demo", environ)


def _run(step: str, environ: Mapping[str, str]) -> str:
    """What a step said, done in a process of its own."""
    with tempfile.TemporaryFile() as output:
        done = subprocess.run(
            [sys.executable, "-m", __spec__.name, step],
            env=environ,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            check=False,
        )
        output.seek(0)
        said = output.read().decode(errors="replace")
    if done.returncode != 0:
        raise SetupError(_bad_variable(said) or f"The step {step!r} failed:\n{said[-4000:]}")
    return said


def _bad_variable(said: str) -> str:
    """What a step died of, if that is a variable which a person can put right."""
    fault = f"{BadEnvironment.__module__}.{BadEnvironment.__name__}: "
    last = said.rstrip().rpartition("\n")[2]
    return last.removeprefix(fault) if last.startswith(fault) else ""


def _migrate() -> None:
    from django.core.management import call_command

    from accounts.models import Account
    from memoryhub.running.doctor import waiting_migrations

    if waiting_migrations():
        call_command("migrate", interactive=False, verbosity=1)
    if not Account.objects.exists():
        print(NO_TEAM)


def _first_run() -> None:
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


def _demo() -> None:
    from memoryhub.running.demo import fill

    if not fill():
        print(IN_USE)


def main() -> None:
    django.setup()
    {"migrate": _migrate, "first-run": _first_run, "demo": _demo}[sys.argv[1]]()


if __name__ == "__main__":
    main()
