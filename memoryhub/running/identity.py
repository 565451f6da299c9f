"""The operating system user PostgreSQL runs as.

PostgreSQL refuses to run as root, so root has to lend it another identity. Nothing is created on the system
for that: an existing data directory keeps its owner; a new one goes to the user `memoryhub` if the
administrator made one, else to `postgres`, else to `nobody`.
"""

from __future__ import annotations

import os
import pwd
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO

import psutil

from memoryhub.running.errors import SetupError

CANDIDATES = ("memoryhub", "postgres", "nobody")


@dataclass(frozen=True)
class Identity:
    """A user to run programs as; `borrowed` when it is not the user of this process."""

    name: str
    uid: int
    gid: int

    @property
    def borrowed(self) -> bool:
        return self.uid != os.geteuid()

    def can(self, mode: str, path: Path) -> bool:
        """Ask the kernel (access lists and all) for `r`, `w` or `x` on `path`, as this user."""
        with Path(os.devnull).open("wb") as nothing:
            return self.popen(["/bin/sh", "-c", f'test -{mode} "$1"', "sh", path], output=nothing).wait() == 0

    def own(self, path: Path) -> None:
        if self.borrowed:
            os.chown(path, self.uid, self.gid)

    def detach(self, command: Sequence[str | Path], *, output: Path) -> psutil.Process:
        """Start a program that outlives this one: a shell leaves it behind in a session of its own."""
        script = 'said=$1; shift; "$@" >"$said" 2>&1 & echo $!'
        with tempfile.TemporaryFile() as pid:
            self.popen(["/bin/sh", "-c", script, "sh", output, *command], output=pid).wait()
            pid.seek(0)
            return psutil.Process(int(pid.read()))

    def popen(
        self, command: Sequence[str | Path], *, output: IO[bytes], stdin: IO[bytes] | int = subprocess.DEVNULL
    ) -> subprocess.Popen[bytes]:
        """Start a program as this user.

        Its output goes to a file, never a pipe: a server it leaves behind inherits the descriptor.
        """
        return subprocess.Popen(
            [str(part) for part in command],
            stdin=stdin,
            stdout=output,
            stderr=subprocess.STDOUT,
            cwd="/",
            start_new_session=True,
            env=clean_environment(os.environ),
            umask=0o077,
            user=self.uid if self.borrowed else None,
            group=self.gid if self.borrowed else None,
            extra_groups=[] if self.borrowed else None,
        )


def clean_environment(environ: Mapping[str, str]) -> dict[str, str]:
    """The environment without PG* variables and with a fixed locale and time zone."""
    kept = {name: value for name, value in environ.items() if not name.startswith(("PG", "LC_", "LANG"))}
    return kept | {"LC_ALL": "C", "TZ": "UTC"}


def database_identity(data: Path) -> Identity:
    """Whoever PostgreSQL must run as for the data directory `data`, which may not exist yet."""
    owner = data.stat().st_uid if data.exists() else None
    if os.geteuid() != 0:
        return _own_identity(owner, data)
    if owner is not None:
        return _named(_entry(owner))
    return _named(_first_candidate())


def _own_identity(owner: int | None, data: Path) -> Identity:
    me = _entry(os.geteuid())
    if owner not in (None, me.pw_uid):
        raise SetupError(
            f"The database in {data} belongs to {_name(owner)!r}, but this command runs as {me.pw_name!r}. "
            f"Run it as {_name(owner)!r} or as root, or choose another --data-dir."
        )
    return _named(me)


def _entry(uid: int) -> pwd.struct_passwd:
    try:
        return pwd.getpwuid(uid)
    except KeyError:
        raise SetupError(
            f"The user id {uid} has no name on this system, and PostgreSQL needs one. "
            "Add the user to /etc/passwd, or set DATABASE_URL to use a PostgreSQL of your own."
        ) from None


def _first_candidate() -> pwd.struct_passwd:
    for name in CANDIDATES:
        try:
            return pwd.getpwnam(name)
        except KeyError:
            continue
    raise SetupError(
        "PostgreSQL does not run as root, and none of the users memoryhub, postgres or nobody exists here. "
        "Create one (`useradd --system memoryhub`), or run Memory Hub as an ordinary user."
    )


def _named(entry: pwd.struct_passwd) -> Identity:
    return Identity(entry.pw_name, entry.pw_uid, entry.pw_gid)


def _name(uid: int | None) -> str:
    try:
        return pwd.getpwuid(uid or 0).pw_name
    except KeyError:
        return str(uid)
