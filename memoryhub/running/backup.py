"""Backup and restore of a whole instance: its database as one moment saw it, and its secrets.

A backup is a ZIP: `database.dump` as pg_dump makes it, the instance's secrets unless they are left out, and last a
manifest by which a restored database is checked. It is made while everything runs, and restored into an empty one.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import subprocess
import tempfile
import zipfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from importlib.util import find_spec
from pathlib import Path
from typing import IO, Any
from urllib.parse import unquote, urlsplit

import psycopg
from psycopg import sql

from memoryhub.running.binaries import find_binaries
from memoryhub.running.errors import SetupError
from memoryhub.running.files import read_json, write_private
from memoryhub.running.identity import clean_environment
from memoryhub.running.instance import Instance

FORMAT, VERSION = "memory-hub-backup", 1
MANIFEST, DUMP, SECRETS = "manifest.json", "database.dump", "secrets.json"
LEAST_MANIFEST = {"format", "version", "postgres", "migrations", "counts", "chains", "sha256"}
PIECE = 1024 * 1024
OURS = ("accounts", "spaces", "actions")
TABLES = "select tablename from pg_tables where schemaname = 'public' order by tablename"
MAJOR = re.compile(r"\(PostgreSQL\) (\d+)")
PASSING = {"accounts_job", "hub_cache", "django_session"}
"""What comes and goes by itself: counted, but not compared."""
CHAINS = """
    select distinct on (account_id) account_id::text, seq, encode(hash, 'hex') from accounts_event
     where seq is not null order by account_id, seq desc
"""


@dataclass(frozen=True)
class Database:
    """Where a database is, seen by the owner of its tables."""

    url: str

    def connect(self) -> psycopg.Connection[Any]:
        try:
            return psycopg.connect(**self._parts, autocommit=True)
        except psycopg.OperationalError as error:
            raise SetupError(f"The database does not answer: {str(error).strip()}") from None

    @property
    def _parts(self) -> dict[str, Any]:
        parts = urlsplit(self.url)
        given = {
            "host": unquote(parts.hostname or ""),
            "port": parts.port,
            "user": unquote(parts.username or ""),
            "password": unquote(parts.password or ""),
            "dbname": parts.path.lstrip("/"),
        }
        return {name: value for name, value in given.items() if value}

    def run(self, program: Path, *arguments: str, said: str) -> None:
        """A program of PostgreSQL's on it. The password goes by the environment, where nobody else reads it."""
        names = {
            "host": "PGHOST",
            "port": "PGPORT",
            "user": "PGUSER",
            "password": "PGPASSWORD",
            "dbname": "PGDATABASE",
        }
        environ = clean_environment(os.environ) | {names[n]: str(v) for n, v in self._parts.items()}
        done = subprocess.run(
            [str(program), *arguments], env=environ, capture_output=True, text=True, check=False
        )
        if done.returncode != 0:
            raise SetupError(f"{said} failed:\n{done.stderr.strip()[-2000:]}")


def owners_database(instance: Instance) -> Database:
    """As the owner of the tables, to whom every account's rows are open."""
    if postgres := instance.embedded:
        return Database(postgres.url("hub_owner"))
    url = os.environ.get("DATABASE_OWNER_URL")
    if not url:
        raise SetupError(
            "Set DATABASE_OWNER_URL beside DATABASE_URL: only the owner of the tables can read all of them."
        )
    return Database(url)


def back_up(instance: Instance, target: IO[bytes], *, with_secrets: bool = True) -> dict[str, Any]:
    """Write a backup, and answer its manifest."""
    database = owners_database(instance)
    with tempfile.TemporaryDirectory() as place, database.connect() as session, session.transaction():
        session.execute("set transaction isolation level repeatable read, read only")
        dump = Path(place) / DUMP
        program = _program("pg_dump", server_major(session))
        exported = session.execute("select pg_export_snapshot()").fetchone()
        assert exported is not None
        database.run(
            program,
            "--format=custom",
            "--enable-row-security",
            "--no-comments",
            f"--snapshot={exported[0]}",
            f"--file={dump}",
            said="pg_dump",
        )
        manifest = _described(session, dump)
        secrets = instance.secrets_file if with_secrets and instance.secrets_file.exists() else None
        with zipfile.ZipFile(target, "w", zipfile.ZIP_STORED) as archive:
            archive.write(dump, DUMP)
            if secrets:
                archive.write(secrets, SECRETS)
            archive.writestr(MANIFEST, json.dumps(manifest, indent=2))
    return manifest


def _described(session: psycopg.Connection[Any], dump: Path) -> dict[str, Any]:
    from memoryhub import settings  # only now: it reads the environment as the instance has set it

    now = datetime.now(UTC)
    return {
        "format": FORMAT,
        "version": VERSION,
        "made_at": now.isoformat(timespec="seconds"),
        "delete_after": (now + timedelta(days=settings.BACKUP_DAYS)).date().isoformat(),
        "made_by": f"Memory Hub {settings.VERSION}",
        "postgres": server_major(session),
        "migrations": _migrations(session),
        "counts": counts(session),
        "chains": chains(session),
        "sha256": _hash(dump),
    }


def server_major(session: psycopg.Connection[Any]) -> int:
    return session.info.server_version // 10_000


def counts(session: psycopg.Connection[Any]) -> dict[str, int]:
    tables = [name for (name,) in session.execute(TABLES)]
    found: dict[str, int] = {}
    for name in tables:
        row = session.execute(sql.SQL("select count(*) from {}").format(sql.Identifier(name))).fetchone()
        found[name] = int(row[0]) if row else 0
    return found


def chains(session: psycopg.Connection[Any]) -> dict[str, list[Any]]:
    """Account → the number and the hash that its chain of events has come to."""
    return {account: [seq, hash] for account, seq, hash in session.execute(CHAINS)}


def _migrations(session: psycopg.Connection[Any]) -> list[str]:
    return [
        f"{app}.{name}"
        for app, name in session.execute("select app, name from django_migrations order by app, name")
    ]


def _program(name: str, server: int) -> Path:
    """The newest at hand; one that is older than the server can't read it."""
    found = [path for path in (_from_wheel(name), shutil.which(name)) if path]
    if not found:
        raise SetupError(
            f"{name} is not installed. Install PostgreSQL's client programs, version {server} or newer."
        )
    versions = {_major(Path(path)): Path(path) for path in found}
    newest = max(versions)
    if newest < server:
        raise SetupError(
            f"The database is of PostgreSQL {server}, and {name} here of {newest}, which can't read it. "
            f"Install PostgreSQL's client programs, version {server} or newer."
        )
    return versions[newest]


def _from_wheel(name: str) -> Path | None:
    try:
        path = find_binaries().program(name)
    except SetupError:
        return None
    return path if path.exists() else None


def _major(program: Path) -> int:
    said = subprocess.run([str(program), "--version"], capture_output=True, text=True, check=False).stdout
    found = MAJOR.search(said)
    return int(found[1]) if found else 0


def _hash(path: Path) -> str:
    digest = hashlib.sha256()
    with path.open("rb") as content:
        while piece := content.read(PIECE):
            digest.update(piece)
    return digest.hexdigest()


def known_migrations() -> set[str]:
    """Of our own apps, as this release has them."""
    return {
        f"{app}.{path.stem}"
        for app in OURS
        for place in getattr(find_spec(app), "submodule_search_locations", None) or []
        for path in Path(place, "migrations").glob("0*.py")
    }


def restore(instance: Instance, source: Path) -> dict[str, Any]:
    """Make the database, and the secrets where there are none, what the backup holds. Answers its manifest.

    Nothing is touched before all that can refuse has been asked.
    """
    with _opened(source) as archive:
        manifest = _read_manifest(archive)
        kept = _secrets_to_keep(instance, archive)
        database = owners_database(instance)
        with database.connect() as session:
            _check_target(session, manifest)
            program = _program("pg_restore", server_major(session))
        with tempfile.TemporaryDirectory() as place:
            dump = Path(archive.extract(DUMP, place))
            if _hash(dump) != manifest["sha256"]:
                raise SetupError(f"{source} is damaged: the database in it is not what its manifest says.")
            database.run(
                program,
                "--dbname", _name_of(database),
                "--single-transaction",
                "--exit-on-error",
                "--no-comments",
                str(dump),
                said="pg_restore",
            )  # fmt: skip
        if kept is not None:
            write_private(instance.secrets_file, kept)
        check_restored(database, manifest)
    return manifest


def _name_of(database: Database) -> str:
    return str(database._parts["dbname"])


@contextmanager
def _opened(source: Path) -> Iterator[zipfile.ZipFile]:
    try:
        with zipfile.ZipFile(source) as archive:
            yield archive
    except (zipfile.BadZipFile, OSError) as error:
        raise SetupError(f"{source} is no whole backup: {error}.") from None


def _read_manifest(archive: zipfile.ZipFile) -> dict[str, Any]:
    names = archive.namelist()
    found = json.loads(archive.read(MANIFEST)) if MANIFEST in names else {}
    if found.get("format") != FORMAT or not found.keys() >= LEAST_MANIFEST or DUMP not in names:
        raise SetupError(
            "This is no backup of Memory Hub. (For an export of a space, use `memoryhub import`.)"
        )
    if found["version"] > VERSION:
        raise SetupError(
            "This backup was made by a newer Memory Hub, which has another form of it. Update first."
        )
    ours = {name for name in found["migrations"] if name.partition(".")[0] in OURS}
    if newer := sorted(ours - known_migrations()):
        raise SetupError(
            f"This backup was made by a newer Memory Hub: it has {newer[0]}, which is not known here. Update first."
        )
    return dict(found)


def _secrets_to_keep(instance: Instance, archive: zipfile.ZipFile) -> Mapping[str, object] | None:
    """Those of the backup, unless the same are here. Other ones would leave keys and seals that nothing opens."""
    if SECRETS not in archive.namelist():
        return None
    brought, here = json.loads(archive.read(SECRETS)), read_json(instance.secrets_file)
    if here and here != brought:
        raise SetupError(
            f"{instance.secrets_file} holds other secrets than the backup, whose keys would not open with them. "
            "Restore into an empty data directory, or move that file away first."
        )
    return None if here else dict(brought)


def _check_target(session: psycopg.Connection[Any], manifest: Mapping[str, Any]) -> None:
    server = server_major(session)
    if server < manifest["postgres"]:
        raise SetupError(
            f"The backup is of PostgreSQL {manifest['postgres']}, and the database here is of PostgreSQL {server}, "
            f"which can't read it. Restore into PostgreSQL {manifest['postgres']} or newer."
        )
    if session.execute(TABLES).fetchone():
        raise SetupError(
            "The database is not empty. A backup is restored into an empty one: nothing is overwritten."
        )


def check_restored(database: Database, manifest: Mapping[str, Any]) -> None:
    """Every table has the rows that it had, and every chain of events ends where it ended."""
    with database.connect() as session:
        there, ends = counts(session), chains(session)
    wrong = [n for n, count in manifest["counts"].items() if n not in PASSING and there.get(n) != count]
    if wrong:
        raise SetupError(f"The restored database lacks rows of {', '.join(wrong)}. Do not use it.")
    if ends != manifest["chains"]:
        raise SetupError("A restored chain of events does not end where the backup says. Do not use it.")
