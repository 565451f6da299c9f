"""Runs: starting one, finding one, and moving it from state to state. At most one is open in a space."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from django.utils import timezone

from accounts.actor import Actor, system_actor
from accounts.domain.events import record_event
from accounts.domain.jobs import enqueue
from accounts.scopes import Right
from memoryhub.common import live
from memoryhub.common.errors import NotFound
from memoryhub.common.ids import parse_id, typed_id
from memoryhub.common.locks import lock
from memoryhub.common.paging import Page, page_of
from spaces.domain.access import access_space, require_right
from spaces.models import DreamRun, Space

MAX_CHANGES = 25
TRIES = 3
PATIENCE = timedelta(hours=24)
UNDO = timedelta(days=7)

WITHDRAWN = "Nobody decided on it before the next run began. What is still so is proposed again."

LAPSE = "lapse_dream"
PURGE = "purge_dream"
DREAMS = "dreams"


@dataclass(frozen=True)
class Chosen:
    """What a run may touch: {id: [version, time]}; and how far it came with those that have their turn."""

    input: dict[str, list[Any]]
    reached: UUID | None = None


def lock_dreams(space: Space) -> None:
    """Until the transaction ends, no other run of the space starts, applies or is undone."""
    lock(f"dream:{space.id}")


def access_run(actor: Actor, id: str | UUID, *, right: Right = Right.READ) -> DreamRun:
    run = DreamRun.objects.visible_to(actor).filter(id=parse_id("run", id)).select_related("space").first()
    if run is None:
        raise NotFound("run")
    require_right(actor, run.space, right)
    return run


def lock_run(actor: Actor, id: str | UUID) -> DreamRun:
    """The run, which the actor may write in, with the space's lock: it is as it will stay until this ends."""
    lock_dreams(access_run(actor, id, right=Right.WRITE).space)
    return access_run(actor, id)


def list_runs(actor: Actor, *, size: int = 20, cursor: str | None = None) -> Page[DreamRun]:
    """Those of the space of the call, newest first."""
    space = access_space(actor)
    return page_of(
        DreamRun.objects.visible_to(actor).inside(space),
        token=cursor,
        size=size,
        field="cursor",
        actor_key=actor.key,
        filters={"list": "dream runs", "space": space.id},
    )


def open_run(space: Space, now: datetime) -> DreamRun | None:
    """The one that is in the way of another."""
    return DreamRun.objects.inside(space).in_the_way(now).select_related("space").first()


def begin(actor: Actor, space: Space, *, kind: str = "dream", thinker: str, chosen: Chosen) -> DreamRun:
    """A new run. To be called with the space's lock, when none is open."""
    now = timezone.now()
    let_lapse(space, now)
    give_way(space)
    run = DreamRun.objects.create(
        account_id=space.account_id,
        space=space,
        kind=kind,
        thinker=thinker,
        status="queued",
        input=chosen.input,
        reached=chosen.reached,
        max_changes=MAX_CHANGES,
        started_by=actor.key,
        created_at=now,
    )
    tell(actor, run, "started")
    return run


def await_result(actor: Actor, run: DreamRun) -> None:
    """Its job is handed out; an answer is waited for so long."""
    run.expires_at = run.created_at + PATIENCE
    move(actor, run, "awaiting_result", fields=["expires_at"])
    enqueue(LAPSE, run.account_id, run.id, run_after=run.expires_at)


def let_lapse(space: Space, now: datetime) -> None:
    """Write down that a run was given up, where that was only read so far."""
    for run in DreamRun.objects.inside(space).filter(status="awaiting_result", expires_at__lte=now):
        run.finished_at = run.expires_at
        move_as_system(run, "expired", fields=["finished_at"])


def give_way(space: Space) -> None:
    """What nobody has decided on is withdrawn."""
    for run in DreamRun.objects.inside(space).giving_way():
        run.changes.filter(state="proposed").update(state="declined", code="withdrawn", note=WITHDRAWN)
        run.finished_at = timezone.now()
        move_as_system(run, "expired", fields=["finished_at"])


def lapse(account_id: UUID, run_id: UUID) -> None:
    run = DreamRun.objects.filter(account_id=account_id, id=run_id).select_related("space").first()
    if run:
        lock_dreams(run.space)
        let_lapse(run.space, timezone.now())


def finish(
    actor: Actor, run: DreamRun, status: str, *, trouble: str = "", fields: list[str] | None = None
) -> None:
    """It is over; what it was about is known by its changes, and of its input only the ids stay."""
    run.finished_at, run.trouble = timezone.now(), trouble
    move(actor, run, status, fields=["finished_at", "trouble", *(fields or [])])


def move(actor: Actor, run: DreamRun, status: str, *, fields: list[str] | None = None) -> None:
    _move(run, status, fields)
    tell(actor, run, status)


def move_as_system(run: DreamRun, status: str, *, fields: list[str] | None = None) -> None:
    move(system_actor(run.account_id), run, status, fields=fields)


def tell(actor: Actor, run: DreamRun, what: str) -> None:
    record_event(actor, f"dream.{what}", "dream", typed_id("run", run.id), space_id=run.space_id)
    live.publish(run.account_id, run.space_id, DREAMS, run.version)


def _move(run: DreamRun, status: str, fields: list[str] | None) -> None:
    run.status = status
    run.version += 1
    run.save(update_fields=["status", "version", *(fields or [])])
