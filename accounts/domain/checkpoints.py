"""Signed checkpoints of the chains of events: hourly, a row to show, and a line that lies outside the database."""

import json
import logging
import os
from collections.abc import Sequence
from datetime import timedelta
from pathlib import Path
from uuid import UUID

from django.conf import settings
from django.db import transaction
from django.utils import timezone

from accounts.domain.chain import Mark, Verdict, look_through
from accounts.models import Checkpoint
from memoryhub.common.signing import key_id, public_key, sign
from memoryhub.common.times import format_time

log = logging.getLogger(__name__)

CHECK, CHECK_NOW = "check_chain", "check_chain_now"
EVERY = timedelta(minutes=55)
"""A little less than an hour: who looks each ten minutes is then never late."""


def check_when_due(account_id: UUID) -> Checkpoint | None:
    latest = latest_checkpoint(account_id)
    if latest and timezone.now() - latest.at < EVERY:
        return None
    return check_chain(account_id)


def latest_checkpoint(account_id: UUID) -> Checkpoint | None:
    return Checkpoint.objects.filter(account_id=account_id).order_by("-at", "-id").first()


def check_chain(account_id: UUID) -> Checkpoint:
    """Look through the whole chain. Where it is whole, its end is signed and put away outside the database."""
    verdict = verify(account_id)
    mark = _signed(account_id, verdict)
    made = Checkpoint.objects.create(
        account_id=account_id,
        at=timezone.now(),
        seq=verdict.seq,
        hash=verdict.hash,
        key_id=mark.key_id if mark else "",
        signature=mark.signature if mark else None,
        broken_at=verdict.fault.first if verdict.fault else None,
        fault=verdict.fault.what if verdict.fault else "",
    )
    if verdict.fault:
        log.error("the chain of events of account %s is broken: %s", account_id, verdict.fault.what)
    elif mark:
        transaction.on_commit(lambda: put_away(mark))
    return made


def verify(account_id: UUID, folder: Path | None = None, keys: Sequence[str] = ()) -> Verdict:
    """Against the checkpoints in the folder (AUDIT_DIR unless told otherwise), signed by these keys or our own."""
    own = [public_key(settings.AUDIT_KEY)] if settings.AUDIT_KEY else []
    return look_through(account_id, read_marks(account_id, folder), [*keys, *own])


def _signed(account_id: UUID, verdict: Verdict) -> Mark | None:
    if verdict.fault or not verdict.seq or not settings.AUDIT_KEY:
        return None
    bare = Mark(account_id, verdict.seq, verdict.hash, format_time(timezone.now()))
    return Mark(
        bare.account_id,
        bare.seq,
        bare.hash,
        bare.at,
        key_id(public_key(settings.AUDIT_KEY)),
        sign(bare.message, settings.AUDIT_KEY),
    )


def put_away(mark: Mark) -> None:
    """One line at the end of the account's file; in the log where there is no folder."""
    line = json.dumps(
        {
            "account": str(mark.account_id),
            "seq": mark.seq,
            "hash": mark.hash.hex(),
            "at": mark.at,
            "key": mark.key_id,
            "signature": mark.signature.hex(),
        }
    )
    folder = audit_folder()
    if folder is None:
        log.info("audit checkpoint %s", line)
        return
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    file = os.open(_file(folder, mark.account_id), os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
    try:
        os.write(file, line.encode() + b"\n")
        os.fsync(file)
    finally:
        os.close(file)


def read_marks(account_id: UUID, folder: Path | None = None) -> list[Mark]:
    """Those of this account. A line that can't be read is a mark that nobody signed."""
    found = folder or audit_folder()
    file = _file(found, account_id) if found else None
    if file is None or not file.exists():
        return []
    return [_mark(account_id, line) for line in file.read_text().splitlines() if line.strip()]


def accounts_with_marks(folder: Path | None = None) -> set[UUID]:
    found = folder or audit_folder()
    return {UUID(file.stem) for file in found.glob("*.jsonl")} if found and found.is_dir() else set()


def audit_folder() -> Path | None:
    return Path(settings.AUDIT_DIR) if settings.AUDIT_DIR else None


def _mark(account_id: UUID, line: str) -> Mark:
    try:
        kept = json.loads(line)
        return Mark(
            UUID(kept["account"]), int(kept["seq"]), bytes.fromhex(kept["hash"]), str(kept["at"]),
            str(kept["key"]), bytes.fromhex(kept["signature"]),
        )  # fmt: skip
    except (ValueError, KeyError, TypeError):
        return Mark(account_id, 0, b"", "an unreadable line")


def _file(folder: Path, account_id: UUID) -> Path:
    return folder / f"{account_id}.jsonl"
