"""Exports and imports that a worker carries out: asked for in a browser, watched, cancelled, taken once."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from datetime import timedelta
from typing import IO
from uuid import UUID

from django.db import connection, transaction
from django.db.models import QuerySet
from django.utils import timezone

from accounts.actor import Actor
from accounts.domain.accounts import member_actor
from accounts.domain.jobs import Lane, claim, enqueue, extend, finish, postpone
from accounts.models import Job
from memoryhub.common.errors import HubError, NotFound, PayloadTooLarge
from memoryhub.common.faults import refusal_for
from memoryhub.common.ids import new_id
from memoryhub.common.tenancy import tenant
from memoryhub.common.text import excerpt
from memoryhub.flows.export import check_export, open_export, require_export, stream_export
from memoryhub.flows.importing import import_file, require_import
from memoryhub.flows.readings import without_secrets
from spaces.domain.access import access_space
from spaces.models import Space, Transfer, TransferPart
from spaces.models.transfers import WORKING, TransferQuerySet

TRANSFERS = Lane("transfer", task="memoryhub.tasks.run_transfers", lease=timedelta(seconds=60))
CARRY_OUT = "carry_out_transfer"
END = "end_transfer"
LIFE = timedelta(hours=24)
PIECE = 512 * 1024
LISTED = 20
MOST_TRIES = 5
OVER = ("cancelled", "failed", "expired")


class Cancelled(Exception):
    """Nobody waits for it any more, or may not have it any more."""


def start_export(actor: Actor, space: Space, *, whole_account: bool = False) -> Transfer:
    """For a person who may export it. Whoever asks is whose it is."""
    require_export(actor, None if whole_account else space)
    return _start(actor, Transfer(direction="out", space=None if whole_account else space))


def start_import(
    actor: Actor, space: Space, content: Iterator[bytes], *, name: str, part: str, limit: int
) -> Transfer:
    """Keep the file, and rehearse it: its report is what the import would do."""
    require_import(actor, space)
    transfer = Transfer(
        direction="in", space=space, name=without_secrets(name)[:200], part=part[:64], dry_run=True
    )
    with transaction.atomic():
        _start(actor, transfer)
        for number, piece in enumerate(content):
            transfer.size += len(piece)
            if transfer.size > limit:
                raise PayloadTooLarge("The file is too large to be uploaded.", limit=limit)
            _keep(transfer, number, piece)
        transfer.save(update_fields=["size"])
    return transfer


def confirm_import(actor: Actor, id: str, *, keep: bool = False) -> Transfer:
    """Do what was rehearsed."""
    with transaction.atomic():
        transfer = access_transfer(actor, id, lock=True)
        if (
            transfer.direction != "in"
            or transfer.state not in ("done", "failed")
            or not transfer.parts.exists()
        ):
            raise NotFound("import")
        transfer.state, transfer.dry_run, transfer.keep = "waiting", False, keep
        transfer.done, transfer.error, transfer.finished_at = 0, "", None
        transfer.save()
        enqueue(CARRY_OUT, transfer.account_id, transfer.id, lane=TRANSFERS)
    return transfer


def cancel_transfer(actor: Actor, id: str) -> Transfer:
    """One's own, while it is on its way; what was done is undone."""
    with transaction.atomic():
        transfer = access_transfer(actor, id, lock=True)
        if transfer.working:
            transfer.state, transfer.finished_at = "cancelled", timezone.now()
            transfer.save(update_fields=["state", "finished_at"])
            transfer.parts.all().delete()
    return transfer


def access_transfer(actor: Actor, id: str, *, lock: bool = False) -> Transfer:
    """One's own, in an account whose member one still is, with the right that it needs."""
    rows = _own(actor)
    found = (rows.select_for_update(no_key=True) if lock else rows).filter(id=_uuid(id)).first()
    if found is None:
        raise NotFound("transfer")
    _check_right(actor, found)
    return found


def _own(actor: Actor) -> TransferQuerySet:
    rows = Transfer.objects.filter(account_id=actor.account_id)
    return rows.filter(user_id=actor.user_id) if actor.user_id else rows.none()


def list_transfers(actor: Actor, space: Space) -> list[Transfer]:
    own = _own(actor).of(space)
    return list(own.order_by("-created_at", "-id")[:LISTED])


def take_export(actor: Actor, id: str) -> Transfer:
    """The link serves once, within its time. To be read with `content_of`."""
    with transaction.atomic():
        transfer = access_transfer(actor, id, lock=True)
        if transfer.state != "ready" or transfer.expires_at <= timezone.now():
            raise NotFound("export")
        transfer.state = "taken"
        transfer.save(update_fields=["state"])
        enqueue(END, transfer.account_id, transfer.id, run_after=timezone.now() + timedelta(hours=1))
    return transfer


def content_of(transfer: Transfer) -> Iterator[bytes]:
    """Piece by piece, each in a transaction of its own: a slow taker holds nothing."""
    number = 0
    while True:
        with tenant(transfer.account_id):
            row = TransferPart.objects.filter(
                account_id=transfer.account_id, transfer_id=transfer.id, number=number
            )
            piece = row.values_list("data", flat=True).first()
        if piece is None:
            return
        yield bytes(piece)
        number += 1


def end_transfer(account_id: UUID, id: UUID) -> None:
    """Its content goes; that it was is kept."""
    now = timezone.now()
    ended = Transfer.objects.filter(account_id=account_id, id=id)
    ended.filter(state="ready", expires_at__lte=now).update(state="taken")
    over = ended.exclude(state__in=[*WORKING, "ready"])
    TransferPart.objects.filter(account_id=account_id, transfer__in=over).delete()


def drop_exports(account_id: UUID) -> None:
    """Exports that lie ready hold what is forgotten now, and imports may."""
    _drop(Transfer.objects.filter(account_id=account_id))


def transfers_of(account_id: UUID, user_id: UUID) -> TransferQuerySet:
    """Those of a person that are on their way or hold something."""
    return Transfer.objects.filter(account_id=account_id, user_id=user_id).exclude(state__in=OVER)


def drop_transfers(account_id: UUID, user_id: UUID) -> None:
    """Those of a person who leaves."""
    _drop(Transfer.objects.filter(account_id=account_id, user_id=user_id))


def _drop(rows: QuerySet[Transfer]) -> None:
    TransferPart.objects.filter(transfer__in=rows).delete()
    rows.filter(state__in=[*WORKING, "ready"]).update(state="cancelled", finished_at=timezone.now())
    rows.filter(report__isnull=False).update(report=None)


def _start(actor: Actor, transfer: Transfer) -> Transfer:
    if actor.user_id is None:
        raise NotFound("person")
    now = timezone.now()
    transfer.account_id, transfer.user_id = actor.account_id, actor.user_id
    transfer.created_at, transfer.expires_at = now, now + LIFE
    with transaction.atomic():
        transfer.save(force_insert=True)
        enqueue(CARRY_OUT, actor.account_id, transfer.id, lane=TRANSFERS)
        enqueue(END, actor.account_id, transfer.id, run_after=transfer.expires_at)
    return transfer


def _keep(transfer: Transfer, number: int, piece: bytes) -> None:
    TransferPart.objects.create(
        id=new_id(), account_id=transfer.account_id, transfer=transfer, number=number, data=piece
    )


def _check_right(actor: Actor, transfer: Transfer) -> None:
    space = access_space(actor, transfer.space_id) if transfer.space_id else None
    if transfer.direction == "out":
        require_export(actor, space)
    elif space:
        require_import(actor, space)


def _uuid(id: str) -> UUID:
    try:
        return UUID(id)
    except ValueError:
        raise NotFound("transfer") from None


# What a worker does


def run_transfers() -> int:
    """Carry out what waits, one after the other: how many."""
    carried = 0
    while claimed := claim(TRANSFERS, 1):
        _carry_out(claimed[0])
        carried += 1
    return carried


def _carry_out(job: Job) -> None:
    """Begins anew whatever a worker before has left unfinished."""
    assert job.object_id is not None
    try:
        with tenant(job.account_id):
            transfer = Transfer.objects.filter(account_id=job.account_id, id=job.object_id).first()
            if transfer is None or not transfer.working:
                finish([job])
                return
            Transfer.objects.filter(id=transfer.id).update(state="running", done=0)
        with _Keeper(job, transfer).at_work() as keeper:
            (_export if transfer.direction == "out" else _import)(transfer, keeper)
        error = ""
    except Cancelled:
        error = "cancelled"
    except HubError as refusal:
        error = refusal.message
    except Exception as fault:
        error, tries = refusal_for(fault, "a transfer").message, job.tries + 1
        if tries < MOST_TRIES:
            postpone([job], type(fault).__name__, timedelta(seconds=5 * tries))
            return
    _end(job, error)


def _end(job: Job, error: str) -> None:
    assert job.object_id is not None
    with tenant(job.account_id):
        rows = Transfer.objects.filter(account_id=job.account_id, id=job.object_id)
        now = timezone.now()
        if error:
            rows.filter(state__in=WORKING).update(state="failed", error=excerpt(error, 1000), finished_at=now)
            TransferPart.objects.filter(transfer__in=rows.filter(direction="out")).delete()
        else:
            made = rows.filter(state="running", direction="out")
            if made.update(state="ready", finished_at=now, expires_at=now + LIFE):
                enqueue(END, job.account_id, job.object_id, run_after=now + LIFE)
            rows.filter(state="running", direction="in").update(state="done", finished_at=now)
        finish([job])


class _Keeper:
    """Keeps what comes and how far it is, from a thread and a connection of its own, so that others see it while
    the work's own transaction lasts. It tells the work when it is no longer wanted."""

    def __init__(self, job: Job, transfer: Transfer) -> None:
        self.job, self.transfer, self.number = job, transfer, 0
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="keeper")

    @contextmanager
    def at_work(self) -> Iterator[_Keeper]:
        try:
            self._thread.submit(self._begin).result()
            yield self
        finally:
            self._thread.submit(_close).result()
            self._thread.shutdown()

    def told(self, done: int) -> None:
        self._thread.submit(self._note, done).result()

    def keep(self, piece: bytes) -> None:
        self._thread.submit(self._add, piece).result()

    def total(self, rows: int) -> None:
        self._thread.submit(self._change, total=rows).result()

    def _begin(self) -> None:
        if self.transfer.direction == "out":
            with tenant(self.transfer.account_id):
                self.transfer.parts.all().delete()

    def _add(self, piece: bytes) -> None:
        with tenant(self.transfer.account_id):
            _keep(self.transfer, self.number, piece)
            self.transfer.size += len(piece)
            self._change(size=self.transfer.size)
        self.number += 1

    def _note(self, done: int) -> None:
        self._change(done=done)
        extend(TRANSFERS, [self.job])

    def _change(self, **fields: int) -> None:
        with tenant(self.transfer.account_id):
            running = Transfer.objects.filter(id=self.transfer.id, state="running")
            if not running.update(**fields):
                raise Cancelled
            actor = _whose(self.transfer)
            _check_right(actor, self.transfer)


def _close() -> None:
    """The connection of the thread that calls it, which looking it up in another would not be."""
    connection.close()


def _whose(transfer: Transfer) -> Actor:
    """As whom it is done: the person who asked, with the role they have now. NotFound for who is gone."""
    return member_actor(transfer.user_id, transfer.account_id)


def _export(transfer: Transfer, keeper: _Keeper) -> None:
    with tenant(transfer.account_id):
        actor = _whose(transfer)
        export = open_export(actor, transfer.space_id, whole_account=transfer.space_id is None)
        Transfer.objects.filter(id=transfer.id).update(name=export.name)
        rows = export.rows
    keeper.total(rows)
    waiting = bytearray()
    for piece in stream_export(export, keeper.told):
        waiting += piece
        if len(waiting) >= PIECE:
            keeper.keep(bytes(waiting))
            waiting.clear()
    keeper.keep(bytes(waiting))
    with tenant(transfer.account_id):
        check_export(_whose(transfer), export)


def _import(transfer: Transfer, keeper: _Keeper) -> None:
    with tempfile.TemporaryFile() as file:
        for piece in content_of(transfer):
            file.write(piece)
        _import_from(file, transfer, keeper)


def _import_from(file: IO[bytes], transfer: Transfer, keeper: _Keeper) -> None:
    with tenant(transfer.account_id):
        report = import_file(
            _whose(transfer),
            file,
            name=transfer.name,
            space=transfer.space_id,
            part=transfer.part,
            dry_run=transfer.dry_run,
            keep=transfer.keep,
            told=keeper.told,
        )
        Transfer.objects.filter(id=transfer.id).update(report=report.as_dict())
        if not transfer.dry_run:
            TransferPart.objects.filter(transfer_id=transfer.id).delete()
