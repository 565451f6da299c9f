"""Undoing a run: every memory is again as it was, to the byte, unless somebody has changed it since."""

from dataclasses import dataclass, field
from datetime import datetime
from uuid import UUID

from django.db import IntegrityError, transaction
from django.utils import timezone

from accounts.actor import Actor
from accounts.domain.events import record_events
from memoryhub.common.errors import Conflict, InvalidTransition, QuotaExceeded, UndoExpired
from memoryhub.common.ids import typed_id
from spaces.domain.dreams.images import Image, Mark, given_in, mark_of, put_back
from spaces.domain.dreams.runs import lock_run, move
from spaces.domain.embeddings.pending import drop_outdated, embed_later
from spaces.domain.memories.access import lock_memories
from spaces.domain.memories.changing import change
from spaces.domain.memories.core import check_core_room, lock_core
from spaces.domain.memories.erasing import erase_memories
from spaces.domain.memories.expiry import expire_later
from spaces.models import DreamChange, DreamRun, Memory

REASONS = {
    "edited": "It was changed since the dream, and stays as it is.",
    "gone": "It was forgotten or deleted since, and does not come back.",
    "taken": "Another memory says the same by now.",
    "core_full": "The core tier of the space is full by now.",
}


@dataclass(frozen=True)
class Left:
    """A memory that is not as it was before the dream, and why."""

    id: UUID
    code: str

    @property
    def reason(self) -> str:
        return REASONS[self.code]

    @property
    def told(self) -> dict[str, str]:
        return {"id": typed_id("mem", self.id), "code": self.code, "reason": self.reason}


@dataclass
class Undone:
    """`restored` are again as they were; `removed` were made by the run; `left` stay as they are by now."""

    run: DreamRun
    restored: list[UUID] = field(default_factory=list)
    removed: list[UUID] = field(default_factory=list)
    left: list[Left] = field(default_factory=list)


def undo(actor: Actor, run_id: str | UUID, *, force: bool = False, dry_run: bool = False) -> Undone:
    """With `force`, later edits give way: they stay in the memory's history. What was forgotten never comes back."""
    with transaction.atomic():
        run = lock_run(actor, run_id)
        _check_undoable(run)
        undone = _undo(actor, run, force=force)
        if dry_run:
            transaction.set_rollback(True)
            return undone
        run.undone_at, run.undone_by = timezone.now(), actor.key
        run.conflicts = [left.told for left in undone.left]
        run.changes.filter(state="applied").update(state="undone")
        move(actor, run, "undone", fields=["undone_at", "undone_by", "conflicts"])
    return undone


def _check_undoable(run: DreamRun) -> None:
    if run.status != "applied" or run.undo_until is None:
        raise InvalidTransition(
            "Only a run that was applied can be undone.",
            **{"from": run.status, "to": "undone", "allowed": []},
        )
    if run.undo_until <= timezone.now():
        raise UndoExpired("A dream can be undone for 7 days. These have passed.")
    if first := [typed_id("run", later.id) for later in built_on(run)]:
        raise Conflict("Later runs were built on this one. Undo them first.", current={"undo_first": first})


def built_on(run: DreamRun) -> list[DreamRun]:
    """Later runs that touched or cited what this one touched or made; the latest first."""
    own = run.changes.filter(state="applied").values_list("memories", "made", "op")
    ids = {id for memories, made, _ in own for id in (*memories, made) if id}
    later = DreamChange.objects.about(list(ids)).filter(
        account_id=run.account_id, state="applied", run__status="applied", run__space_id=run.space_id
    )
    runs = DreamRun.objects.filter(id__in=later.values("run_id"), finished_at__gt=run.finished_at)
    return list(runs.exclude(id=run.id).order_by("-finished_at", "-id"))


def _undo(actor: Actor, run: DreamRun, *, force: bool) -> Undone:
    """Memories are locked before what is kept of them is read, so that whoever forgets one meanwhile wins."""
    changes = run.changes.filter(state="applied").order_by("-number")
    ids = {id for memories, made in changes.values_list("memories", "made") for id in (*memories, made) if id}
    lock_core(run.account_id, run.space_id)
    rows = Memory.objects.filter(account_id=run.account_id, id__in=ids)
    lock_memories(rows)
    step = _Step(actor, Undone(run), {m.id: m for m in rows.select_related("space")}, force, timezone.now())
    for one in changes.all():
        step.undo(one)
    return step.undone


@dataclass
class _Step:
    """One change after the other, the last one first."""

    actor: Actor
    undone: Undone
    rows: dict[UUID, Memory]
    force: bool
    now: datetime

    def undo(self, one: DreamChange) -> None:
        marks = {UUID(mark["id"]): mark for mark in one.after}
        images = {UUID(image["id"]): image for image in one.before}
        if one.made:
            self._note(one.made, self._remove(one.made, marks.get(one.made)), self.undone.removed)
        for id in one.memories if one.op != "add" else ():
            self._note(id, self._restore(id, images.get(id), marks.get(id)), self.undone.restored)

    def _note(self, id: UUID, why_not: str, done: list[UUID]) -> None:
        if why_not:
            self.undone.left.append(Left(id, why_not))
        else:
            done.append(id)

    def _remove(self, id: UUID, mark: Mark | None) -> str:
        memory = self.rows.get(id)
        if memory is None:
            return "gone"
        if mark_of(memory) != mark and not self.force:
            return "edited"
        erase_memories(self.actor, "memory.deleted", [memory], scrub=False)
        return ""

    def _restore(self, id: UUID, image: Image | None, mark: Mark | None) -> str:
        memory = self.rows.get(id)
        if memory is None or image is None:
            return "gone"
        edited = mark_of(memory) != mark
        if edited and not self.force:
            return "edited"
        try:
            with transaction.atomic():
                (self._put_over if edited else self._put_back)(memory, image)
        except (Conflict, IntegrityError):
            return "taken"
        except QuotaExceeded:
            return "core_full"
        return ""

    def _put_over(self, memory: Memory, image: Image) -> None:
        """An edit like any other, which keeps what it replaces."""
        given = {n: v for n, v in given_in(image).items() if n not in ("version", "updated_at", "written_by")}
        change(self.actor, memory, given, self.now)

    def _put_back(self, memory: Memory, image: Image) -> None:
        put_back(memory, image)
        if memory.tier == "core" and memory.status == "active":
            check_core_room(memory)
        drop_outdated(memory)
        embed_later([memory])
        expire_later(memory)
        told = {typed_id("mem", memory.id): memory.space_id}
        record_events(self.actor, "memory.updated", "memory", told)
