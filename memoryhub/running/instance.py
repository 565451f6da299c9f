"""An instance is a data directory: where it is, its secrets, and the environment of the programs that serve it."""

from __future__ import annotations

import hashlib
import os
import secrets
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

import platformdirs

from memoryhub.common.keyring import new_entry
from memoryhub.common.signing import new_signing_key
from memoryhub.running.errors import SetupError
from memoryhub.running.files import read_json, write_private
from memoryhub.running.postgres import LONGEST_SOCKET_PATH, EmbeddedPostgres

DEFAULT_URL = "http://localhost:8765"
SECRETS = {
    "SECRET_KEY": lambda: secrets.token_urlsafe(48),
    "KEY_PEPPER": lambda: secrets.token_urlsafe(48),
    "KEYRING": new_entry,
    "AUDIT_KEY": new_signing_key,
}


@dataclass(frozen=True)
class Instance:
    data_dir: Path

    @property
    def embedded(self) -> EmbeddedPostgres | None:
        """The database in the data directory, unless the environment names another."""
        return None if os.environ.get("DATABASE_URL") else EmbeddedPostgres(self.data_dir / "postgres")

    @property
    def secrets_file(self) -> Path:
        return self.data_dir / "secrets.json"

    @property
    def first_run_file(self) -> Path:
        return self.data_dir / "first-run.json"

    @property
    def state_file(self) -> Path:
        """What `up` says of itself while it runs."""
        return self.data_dir / "running.json"

    @property
    def broker(self) -> Path:
        return self.data_dir / "broker"

    @property
    def static(self) -> Path:
        return self.data_dir / "static"

    @property
    def audit(self) -> Path:
        """The signed checkpoints of what happened."""
        return self.data_dir / "audit"

    @property
    def models(self) -> Path:
        return self.data_dir / "models"

    @property
    def embedder_socket(self) -> Path:
        """Beside the data, unless the path gets too long for a socket."""
        near = self.data_dir / "run" / "embedder.sock"
        if len(os.fsencode(near)) <= LONGEST_SOCKET_PATH:
            return near
        name = hashlib.sha256(os.fsencode(near)).hexdigest()[:16]
        return Path(tempfile.gettempdir()) / f"memoryhub-embedder-{name}" / "embedder.sock"

    @property
    def public_url(self) -> str:
        """Where people and agents find it: as configured, as running now, as on the first run."""
        noted = [read_json(path).get("url") for path in (self.state_file, self.first_run_file)]
        return os.environ.get("PUBLIC_URL") or next((str(url) for url in noted if url), DEFAULT_URL)

    def make(self) -> None:
        """Make the directory, closed to others except, under root, for the database server passing through."""
        try:
            if not self.data_dir.exists():
                self.data_dir.mkdir(parents=True)
                self.data_dir.chmod(0o711 if os.geteuid() == 0 else 0o700)
            for folder in (self.broker, self.static):
                folder.mkdir(mode=0o700, exist_ok=True)
        except OSError as error:
            raise SetupError(
                f"Cannot use {self.data_dir} as the data directory: {error.strerror}. Choose another --data-dir."
            ) from None

    def secrets(self) -> dict[str, str]:
        """SECRET_KEY, KEY_PEPPER, KEYRING and AUDIT_KEY, made once. Losing the file ends every session, every key and
        every connection."""
        kept = read_json(self.secrets_file) if self.secrets_file.exists() else {}
        made = {name: make() for name, make in SECRETS.items() if name not in kept}
        if made:
            self.make()
            write_private(self.secrets_file, {**kept, **made})
        return {name: str(value) for name, value in {**kept, **made}.items()}

    def add_key(self) -> str:
        """Put a new key first on the keyring; what is sealed under the others can still be read."""
        kept = self.secrets()
        entry = new_entry()
        write_private(self.secrets_file, {**kept, "KEYRING": f"{entry},{kept['KEYRING']}"})
        return entry.partition(":")[0]

    def environment(self, given: Mapping[str, str]) -> dict[str, str]:
        """The variables to add to the environment `given`, which keeps what it has."""
        wanted = {
            "DJANGO_SETTINGS_MODULE": "memoryhub.settings",
            "MEMORYHUB_DATA_DIR": str(self.data_dir),
            "CELERY_BROKER_URL": f"folder://localhost{self.broker}",
            "PUBLIC_URL": self.public_url,
            "STATIC_ROOT": str(self.static),
            "AUDIT_DIR": str(self.audit),
            "RATE_LIMIT_REQUESTS": "0",
            "RATE_LIMIT_WRITES": "0",
            "SPACE_MEMORIES": "0",
            "SPACE_RECORDS": "0",
            "SPACE_VALUES": "0",
            "EMBEDDER_SOCKET": str(self.embedder_socket),
            "EMBEDDING_URL": f"http+unix://{quote(str(self.embedder_socket), safe='')}/v1",
            **self.secrets(),
        }
        if postgres := self.embedded:
            wanted |= {
                "DATABASE_URL": postgres.url("hub_app"),
                "DATABASE_OWNER_URL": postgres.url("hub_owner"),
                "DATABASE_PREPARED_STATEMENTS": "true",
            }
        return {name: value for name, value in wanted.items() if not _has(given, name)}


def _has(environ: Mapping[str, str], name: str) -> bool:
    return bool(environ.get(name) or environ.get(f"{name}_FILE"))


def find_data_dir(given: Path | None) -> Path:
    """The option, else MEMORYHUB_DATA_DIR, else the platform's folder; under root /var/lib/memoryhub."""
    named = given or os.environ.get("MEMORYHUB_DATA_DIR")
    if named:
        return Path(named).expanduser().absolute()
    if os.geteuid() == 0:
        return Path("/var/lib/memoryhub")
    return Path(platformdirs.user_data_dir("memoryhub", appauthor=False))


@contextmanager
def open_instance(data_dir: Path | None) -> Iterator[Instance]:
    """An instance to work on from this process: running already, or its database started meanwhile."""
    instance = Instance(find_data_dir(data_dir))
    postgres = instance.embedded
    if postgres and not (postgres.home / "data").exists():
        raise SetupError(f"There is no Memory Hub in {instance.data_dir} yet. Start one with `memoryhub up`.")
    with postgres or nullcontext():
        os.environ.update(instance.environment(os.environ))
        yield instance
