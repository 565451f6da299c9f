"""Exports and imports that a worker carries out."""

import io
import zipfile
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
import time_machine

import memoryhub.tasks  # noqa: F401 (makes the handlers of jobs known)
from accounts.domain.jobs import claim, run_due_jobs
from accounts.models import Event, Job, Membership
from memoryhub.common.errors import Forbidden, NotFound, PayloadTooLarge
from memoryhub.common.tenancy import tenant
from memoryhub.flows import transfers
from memoryhub.flows.forgetting import forget
from memoryhub.flows.transfers import (
    TRANSFERS,
    access_transfer,
    cancel_transfer,
    confirm_import,
    content_of,
    list_transfers,
    run_transfers,
    start_export,
    start_import,
    take_export,
)
from spaces.domain.memories import remember
from spaces.domain.spaces import create_space
from spaces.models import Memory, Transfer, TransferPart
from tests.conftest import Cast
from tests.memoryhub.flows.leaving import exported

pytestmark = pytest.mark.django_db(transaction=True)


def said(cast: Cast, text: str = "Deploys go out on Tuesdays") -> None:
    with tenant(cast.account.id):
        remember(cast.agent, text=text)


def begun(cast: Cast, **options: Any) -> Transfer:
    with tenant(cast.account.id):
        return start_export(cast.owner, cast.space, **options)


def as_it_is(cast: Cast, transfer: Transfer) -> Transfer:
    with tenant(cast.account.id):
        return Transfer.objects.get(id=transfer.id)


def parts(cast: Cast) -> int:
    with tenant(cast.account.id):
        return TransferPart.objects.count()


def taken(cast: Cast, transfer: Transfer) -> zipfile.ZipFile:
    with tenant(cast.account.id):
        found = take_export(cast.owner, str(transfer.id))
    return zipfile.ZipFile(io.BytesIO(b"".join(content_of(found))))


def test_an_export_is_made_by_a_worker_and_taken_once(cast: Cast, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(transfers, "PIECE", 500)
    said(cast)
    transfer = begun(cast)
    assert (transfer.state, run_transfers()) == ("waiting", 1)
    ready = as_it_is(cast, transfer)
    assert (ready.state, ready.size > 500, ready.total > 0, parts(cast) > 1) == ("ready", True, True, True)
    archive = taken(cast, transfer)
    assert archive.testzip() is None
    assert b"Tuesdays" in archive.read("memories.jsonl")
    with tenant(cast.account.id), pytest.raises(NotFound):
        take_export(cast.owner, str(transfer.id))


def test_a_whole_account_too(cast: Cast) -> None:
    said(cast)
    transfer = begun(cast, whole_account=True)
    run_transfers()
    assert b"Tuesdays" in taken(cast, transfer).read("spaces/main/memories.jsonl")


def test_it_is_nobody_elses_and_ends_with_the_membership(cast: Cast) -> None:
    transfer = begun(cast)
    run_transfers()
    with tenant(cast.account.id):
        for other in (cast.admin, cast.teammate):
            with pytest.raises(NotFound):
                take_export(other, str(transfer.id))
        assert list_transfers(cast.admin, cast.space) == []
        with pytest.raises(Forbidden):
            start_export(cast.teammate, cast.space)
        Membership.objects.filter(user_id=cast.owner.user_id).update(role="member")
        demoted = transfers.member_actor(cast.owner.user_id, cast.account.id)  # type: ignore[arg-type]
        with pytest.raises(Forbidden):
            take_export(demoted, str(transfer.id))


def test_who_is_removed_before_it_runs_gets_nothing(cast: Cast) -> None:
    transfer = begun(cast)
    Membership.objects.filter(user_id=cast.owner.user_id).delete()
    run_transfers()
    assert (as_it_is(cast, transfer).state, parts(cast)) == ("failed", 0)
    with tenant(cast.account.id):
        assert not Event.objects.filter(type="export.created").exists()


def test_after_a_day_it_is_gone(cast: Cast) -> None:
    with time_machine.travel(datetime(2026, 3, 2, tzinfo=UTC), tick=False) as clock:
        transfer = begun(cast)
        run_transfers()
        clock.shift(timedelta(hours=24, seconds=1))
        with tenant(cast.account.id), pytest.raises(NotFound):
            take_export(cast.owner, str(transfer.id))
        run_due_jobs()
        assert (as_it_is(cast, transfer).state, parts(cast)) == ("taken", 0)


def test_one_that_is_cancelled_stops_and_leaves_nothing(cast: Cast, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(transfers, "PIECE", 100)
    said(cast)
    transfer = begun(cast)
    keep = transfers._Keeper._add

    def cancelled_then_kept(keeper: Any, piece: bytes) -> None:
        with tenant(cast.account.id):
            cancel_transfer(cast.owner, str(transfer.id))
        keep(keeper, piece)

    monkeypatch.setattr(transfers._Keeper, "_add", cancelled_then_kept)
    run_transfers()
    assert (as_it_is(cast, transfer).state, parts(cast), Job.objects.filter(lane="transfer").count()) == (
        "cancelled",
        0,
        0,
    )


def test_what_a_killed_worker_left_is_begun_anew_by_the_next(cast: Cast) -> None:
    said(cast)
    with time_machine.travel(datetime(2026, 3, 2, tzinfo=UTC), tick=False) as clock:
        transfer = begun(cast)
        assert len(claim(TRANSFERS, 1)) == 1
        with tenant(cast.account.id):
            Transfer.objects.filter(id=transfer.id).update(state="running", done=7)
            transfers._keep(transfer, 0, b"half of it")
        assert run_transfers() == 0
        clock.shift(TRANSFERS.lease + timedelta(seconds=1))
        assert run_transfers() == 1
        assert as_it_is(cast, transfer).state == "ready"
        assert taken(cast, transfer).testzip() is None


def test_a_fault_is_tried_again_and_then_told(cast: Cast, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*args: Any) -> None:
        raise RuntimeError("no words of stored text")

    monkeypatch.setattr(transfers, "_export", broken)
    with time_machine.travel(datetime(2026, 3, 2, tzinfo=UTC), tick=False) as clock:
        transfer = begun(cast)
        for _ in range(transfers.MOST_TRIES):
            run_transfers()
            clock.shift(timedelta(minutes=2))
        failed = as_it_is(cast, transfer)
    assert (failed.state, failed.error) == ("failed", "Something went wrong on our side.")


def test_what_is_forgotten_is_in_no_export_that_lies_ready(cast: Cast) -> None:
    said(cast, "The purple elephant")
    transfer = begun(cast)
    run_transfers()
    with tenant(cast.account.id):
        forget(cast.owner.in_space("main"), query="purple elephant")
    assert (as_it_is(cast, transfer).state, parts(cast)) == ("cancelled", 0)


# Imports


def brought(cast: Cast, content: bytes, name: str = "main.zip", limit: int = 10**6) -> Transfer:
    with tenant(cast.account.id):
        space = create_space(cast.owner, name="Elsewhere")
        return start_import(cast.owner, space, iter([content]), name=name, part="", limit=limit)


def test_an_import_is_rehearsed_and_then_done(cast: Cast) -> None:
    said(cast)
    with tenant(cast.account.id):
        content = exported(cast.owner, "main")
    transfer = brought(cast, content)
    run_transfers()
    rehearsed = as_it_is(cast, transfer)
    assert (rehearsed.state, rehearsed.dry_run) == ("done", True)
    assert rehearsed.report["counts"]["memory"] == {"new": 1, "same": 0, "changed": 0, "conflicting": 0}
    with tenant(cast.account.id):
        assert Memory.objects.count() == 1
        confirm_import(cast.owner, str(transfer.id))
    run_transfers()
    done = as_it_is(cast, transfer)
    assert (done.state, done.dry_run, parts(cast)) == ("done", False, 0)
    with tenant(cast.account.id):
        assert Memory.objects.count() == 2
        with pytest.raises(NotFound):
            confirm_import(cast.owner, str(transfer.id))


def test_a_bad_file_fails_with_its_line(cast: Cast) -> None:
    transfer = brought(cast, b'{"type": "entity", "name": "a"}\n{oops\n', "memory.jsonl")
    run_transfers()
    failed = as_it_is(cast, transfer)
    assert failed.state == "failed"
    assert "memory.jsonl line 2" in failed.error


def test_a_file_that_is_too_large_is_not_kept(cast: Cast) -> None:
    with pytest.raises(PayloadTooLarge):
        brought(cast, b"x" * 100, limit=99)
    assert parts(cast) == 0


@pytest.mark.parametrize("id", ["nonsense", "0" * 32])
def test_a_transfer_that_is_none_is_absent(cast: Cast, id: str) -> None:
    with tenant(cast.account.id), pytest.raises(NotFound):
        access_transfer(cast.owner, id)
