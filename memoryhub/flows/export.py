"""Export: everything that a space or an account holds, as one ZIP, made while it is read.

It has a JSON line for each row of each kind, `memory.md` for people, and last a manifest with counts and
hashes. Keys, tokens and vectors are of no kind, so they are not in it.
"""

import json
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import datetime
from typing import IO, Any
from uuid import UUID

from django.apps import apps
from django.conf import settings
from django.db import transaction
from django.utils import timezone

from accounts.actor import Actor
from accounts.domain.accounts import access_account
from accounts.domain.events import record_event
from accounts.models import Account, Event
from accounts.scopes import Right, Scope
from memoryhub.common.errors import Forbidden
from memoryhub.common.ids import typed_id
from memoryhub.common.tenancy import snapshot
from memoryhub.common.times import format_time
from memoryhub.flows.archive import Archive, Entry
from memoryhub.flows.prose import NOT_PROSE, heading, paragraph
from spaces.domain.access import access_space, list_spaces, require_right
from spaces.domain.kinds import Kind, Row, all_kinds, kinds_with_files
from spaces.models import Space

FORMAT, VERSION = "memory-hub-export", 1
MANIFEST, PROSE = "manifest.json", "memory.md"
CREATED = "export.created"
SPOOLED = 4 * 1024 * 1024
SETTINGS = (
    "name", "slug", "description", "time_zone", "visibility", "secret_policy", "scratch_days", "closed_statuses",
    "capture_mode", "actions_paused", "dream_mode", "dream_review", "dream_hours",
)  # fmt: skip

Told = Callable[[int], None]


@dataclass(frozen=True)
class Part:
    """A space (None: what belongs to the account as a whole) and the folder of its files."""

    space: Space | None
    folder: str = ""


@dataclass(frozen=True)
class Export:
    """An export that its actor may have. `account` and `parts` are what it holds."""

    actor: Actor
    account: Account
    parts: tuple[Part, ...]
    at: datetime = field(default_factory=timezone.now)

    @property
    def name(self) -> str:
        """For the file. A slug can't hold anything that a header or a shell would read."""
        spaces = [part.space for part in self.parts if part.space and not part.folder]
        slug = spaces[0].slug if spaces else self.account.slug
        return f"memory-hub-{slug}-{self.at:%Y-%m-%d-%H%M}.zip"

    @property
    def rows(self) -> int:
        """About how many there are to go through."""
        counts = (_count(self.account.id, kind, part.space) for part in self.parts for kind in all_kinds())
        return sum(counts)


def open_export(
    actor: Actor, space: str | UUID | None = None, *, whole_account: bool = False, note: str = ""
) -> Export:
    """Check that the actor may take it all away, and write down that it does. To be read with `stream_export`."""
    within = None if whole_account else access_space(actor, space)
    require_export(actor, within)
    account = access_account(actor)
    parts = [Part(within)] if within else _parts(actor)
    object_type, id = (
        ("space", typed_id("spc", within.id)) if within else ("account", typed_id("acc", account.id))
    )
    with transaction.atomic():
        record_event(actor, CREATED, object_type, id, space_id=within.id if within else None, summary=note)
    return Export(actor, account, tuple(parts))


def require_export(actor: Actor, space: Space | None) -> None:
    """The scope, and the role of who made the key. One of the operator's has a member's, which takes nothing away."""
    if Scope.EXPORT_READ not in actor.scopes:
        raise Forbidden(
            "This credential lacks the scope export:read.", missing_scopes=[str(Scope.EXPORT_READ)]
        )
    if space is None and actor.space_ids is not None:
        raise Forbidden("This key is limited to its spaces and may not export the account.")
    require_right(actor, space, Right.EXPORT)


def check_export(actor: Actor, export: Export) -> None:
    """Whether this actor may still have it."""
    spaces = [part.space for part in export.parts if part.space and not part.folder]
    require_export(actor, access_space(actor, spaces[0].id) if spaces else None)


def earlier_exports(actor: Actor, space: Space) -> list[Event]:
    """Who took what away, the latest first: of this space and of the account as a whole."""
    require_export(actor, space)
    made = Event.objects.filter(account_id=actor.account_id, type=CREATED)
    return list((made.filter(space_id=space.id) | made.filter(space_id=None)).order_by("-at", "-id")[:20])


def _parts(actor: Actor) -> list[Part]:
    whole = Part(None, "account/")
    return [whole, *(Part(space, f"spaces/{space.slug}/") for space in list_spaces(actor))]


def stream_export(export: Export, told: Told = lambda rows: None) -> Iterator[bytes]:
    """The bytes of the ZIP, in one snapshot of the account. `told` hears how many rows have gone by."""
    with snapshot(export.account.id), tempfile.SpooledTemporaryFile(SPOOLED) as prose:
        writing = _Writing(export, Archive(export.at), prose, told)
        yield from writing.everything()


@dataclass
class _Writing:
    export: Export
    archive: Archive
    prose: IO[bytes]
    told: Told
    entries: list[tuple[Part, Kind, Entry]] = field(default_factory=list)
    rows: int = 0

    def everything(self) -> Iterator[bytes]:
        self.prose.write(f"# {self.export.account.name}\n".encode())
        for part in self.export.parts:
            if part.folder and part.space:
                self.prose.write(f"\n# {part.space.name}\n".encode())
            for kind in kinds_with_files():
                yield from self._kind(part, kind)
        yield from self._file(PROSE, self._spooled())
        yield from self._file(MANIFEST, [_pretty(self._manifest())])
        self.archive.close()
        yield self.archive.take(least=0)

    def _kind(self, part: Part, kind: Kind) -> Iterator[bytes]:
        headed = kind.prefix in NOT_PROSE
        with self.archive.entry(part.folder + kind.file) as entry:
            for row in kind.export(self.export.actor, part.space):
                entry.write(_line(row))
                entry.rows += 1
                if kind.prefix not in NOT_PROSE and (said := paragraph(row)):
                    self.prose.write(("" if headed else heading(kind.file)).encode() + said.encode())
                    headed = True
                self._tell(1)
                if ready := self.archive.take():
                    yield ready
        self.entries.append((part, kind, entry))

    def _file(self, path: str, pieces: Iterator[bytes] | list[bytes]) -> Iterator[bytes]:
        with self.archive.entry(path) as entry:
            for piece in pieces:
                entry.write(piece)
                if ready := self.archive.take():
                    yield ready

    def _spooled(self) -> Iterator[bytes]:
        self.prose.seek(0)
        while piece := self.prose.read(256 * 1024):
            yield piece

    def _tell(self, rows: int) -> None:
        self.rows += rows
        if self.rows % 500 == 0:
            self.told(self.rows)

    def _manifest(self) -> Row:
        export = self.export
        return {
            "format": FORMAT,
            "version": VERSION,
            "made_at": format_time(export.at),
            "made_by": f"Memory Hub {settings.VERSION}",
            "account": {"id": typed_id("acc", export.account.id), "name": export.account.name},
            "spaces": [_described(part) for part in export.parts if part.space],
            "files": [
                {
                    "path": entry.path,
                    "kind": kind.name,
                    "rows": entry.rows,
                    "bytes": entry.size,
                    "sha256": entry.sha256,
                }
                for _, kind, entry in self.entries
            ],
        }


def _described(part: Part) -> Row:
    space = part.space
    assert space is not None
    return {
        "id": typed_id("spc", space.id),
        "folder": part.folder,
        **{name: getattr(space, name) for name in SETTINGS},
    }


def _count(account_id: UUID, kind: Kind, space: Space | None) -> int:
    model: Any = apps.get_model(kind.model_label)
    if space is None and not model._meta.get_field("space_id").null:
        return 0
    return int(model.objects.filter(account_id=account_id, space_id=space.id if space else None).count())


def _line(row: Row) -> bytes:
    return json.dumps(row, ensure_ascii=False, separators=(",", ":")).encode() + b"\n"


def _pretty(value: Row) -> bytes:
    return json.dumps(value, ensure_ascii=False, indent=2).encode() + b"\n"
