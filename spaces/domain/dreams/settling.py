"""From a model's answer to what becomes of it: read, check, then apply, or wait for a person."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import Any
from uuid import UUID

from django.db import transaction
from django.utils import timezone

from accounts.actor import Actor
from accounts.domain.jobs import enqueue
from accounts.scopes import Right
from memoryhub.common.canonical import digest
from memoryhub.common.errors import Conflict, Forbidden, InvalidTransition, NotFound, ValidationFailed
from memoryhub.common.ids import parse_id, typed_id
from memoryhub.common.text import excerpt
from spaces.domain.access import access_space
from spaces.domain.dreams.applying import Outcome, apply, hand_of
from spaces.domain.dreams.briefs import brief, choose_input
from spaces.domain.dreams.due import dream_state
from spaces.domain.dreams.runs import (
    PURGE,
    TRIES,
    UNDO,
    await_result,
    begin,
    finish,
    lock_dreams,
    lock_run,
    move,
    open_run,
)
from spaces.domain.dreams.screening import clean_notes, clean_told
from spaces.domain.dreams.shape import NOTES, Proposed, read_result
from spaces.models import DreamChange, DreamRun, Memory


class ResultRefused(ValidationFailed):
    """The try is counted."""

    keeps_writes = True


@transaction.atomic
def next_job(actor: Actor, *, start_if_due: bool = True) -> tuple[dict[str, Any] | None, bool]:
    """(job, whether a dream is due). The open run's job is handed out again until somebody submits."""
    space = access_space(actor, right=Right.WRITE)
    if space.dream_mode != "client":
        return None, dream_state(space).due
    lock_dreams(space)
    run = open_run(space, timezone.now())
    if run is None and start_if_due and dream_state(space).due:
        run = begin(actor, space, thinker="client", chosen=choose_input(space))
    if run and run.status == "queued" and run.thinker == "client":
        await_result(actor, run)
    waiting = run is not None and run.status == "awaiting_result"
    return (brief(run) if run and waiting else None), dream_state(space).due


def submit(actor: Actor, run_id: str | UUID, raw: Mapping[str, Any]) -> DreamRun:
    """The answer of an agent's model. The same answer again is told what became of it the first time."""
    with transaction.atomic():
        outcome = _submit(actor, run_id, raw)
    if isinstance(outcome, ResultRefused):
        raise outcome
    return outcome


def _submit(actor: Actor, run_id: str | UUID, raw: Mapping[str, Any]) -> DreamRun | ResultRefused:
    run = lock_run(actor, run_id)
    answer = digest(raw)
    if run.answer_digest:
        if run.answer_digest == answer:
            return run
        raise Conflict("This run has its result already. Ask for the next job.", actual=run.status)
    _check_awaited(run)
    try:
        changes, notes = read_result(raw)
    except ValidationFailed as refusal:
        return _count_try(actor, run, refusal)
    run.answer_digest, run.submitted_by, run.submitted_at = answer, actor.key, timezone.now()
    run.save(update_fields=["answer_digest", "submitted_by", "submitted_at"])
    settle(actor, run, changes, notes)
    return run


def _check_awaited(run: DreamRun) -> None:
    status = run.status_at(timezone.now())
    if run.thinker != "client" or status != "awaiting_result":
        raise InvalidTransition(
            "This run waits for no result. Ask for the next job.",
            **{"from": status, "to": "validating", "allowed": []},
        )


def _count_try(actor: Actor, run: DreamRun, refusal: ValidationFailed) -> ResultRefused:
    run.tries += 1
    run.save(update_fields=["tries"])
    if run.tries >= TRIES:
        finish(actor, run, "rejected", trouble="No answer of the right form in three tries.")
    return ResultRefused(refusal.fields)


def settle(actor: Actor, run: DreamRun, changes: Sequence[Proposed], notes: str) -> None:
    """Apply what the rules allow, or keep it for a person. In one transaction, with the space's lock."""
    mode = run.space.dream_mode
    if _has_forgotten(run):
        changes, notes = [replace(change, reason="") for change in changes], ""
    run.status, run.notes = "validating", excerpt(clean_notes(notes), NOTES)
    run.review = run.space.dream_review or mode == "off"
    run.save(update_fields=["status", "notes", "review"])
    if run.thinker != "rules" and mode == "off":
        finish(actor, run, "rejected", trouble="Dreams were switched off meanwhile.")
    elif run.review:
        _propose(actor, run, changes)
    else:
        _keep(run, apply(run, run.space, hand_of(actor, run.space), changes))
        _conclude(actor, run)


def _has_forgotten(run: DreamRun) -> bool:
    """Something that the model has read is gone for good: what it says in its own words may repeat it."""
    rows = Memory.objects.filter(account_id=run.account_id, id__in=[UUID(id) for id in run.input])
    return rows.count() < len(run.input)


def _propose(actor: Actor, run: DreamRun, changes: Sequence[Proposed]) -> None:
    """What the rules say of each change is found out by trying all of them, and taking that back."""
    with transaction.atomic():
        outcomes = apply(run, run.space, hand_of(actor, run.space), changes)
        transaction.set_rollback(True)
    _keep(run, outcomes, proposed=True)
    if run.changes.filter(state="proposed").exists():
        move(actor, run, "review")
    else:
        finish(actor, run, "no_changes")


def decide(actor: Actor, run_id: str | UUID, accepted: Collection[int]) -> DreamRun:
    """A person accepts some of the changes that wait, and declines the others. The rules hold once more."""
    with transaction.atomic():
        run = lock_run(actor, run_id)
        if not actor.is_person:
            raise Forbidden("Only a person, signed in to a browser, decides on a dream's changes.")
        if run.status != "review":
            raise InvalidTransition(
                "This run doesn't wait for a decision.",
                **{"from": run.status, "to": "applied", "allowed": []},
            )
        waiting = list(run.changes.filter(state="proposed").order_by("number"))
        run.decided_by = actor.key
        run.save(update_fields=["decided_by"])
        _decline(run, [change.number for change in waiting if change.number not in accepted])
        changes = [_proposed(change) for change in waiting if change.number in accepted]
        _replace(run, apply(run, run.space, hand_of(actor, run.space, trust="reviewed"), changes))
        _conclude(actor, run, none="rejected" if not changes else "no_changes")
    return run


def _decline(run: DreamRun, numbers: Sequence[int]) -> None:
    note = "A person declined it."
    run.changes.filter(number__in=numbers).update(state="declined", code="declined", note=note)


def _proposed(change: DreamChange) -> Proposed:
    fields = {name: value for name, value in change.proposal.items() if name != "reason"}
    ids = tuple(typed_id("mem", id) for id in change.memories)
    return Proposed(change.number, change.op, ids, fields, change.proposal.get("reason", ""))


def _replace(run: DreamRun, outcomes: Sequence[Outcome]) -> None:
    run.changes.filter(number__in=[outcome.change.number for outcome in outcomes]).delete()
    _keep(run, outcomes)


def _keep(run: DreamRun, outcomes: Sequence[Outcome], *, proposed: bool = False) -> None:
    """What was skipped is kept with its words, unless these may be of something that is forgotten."""
    forgotten = _has_forgotten(run)
    rows = [_row(run, outcome, proposed=proposed) for outcome in outcomes]
    for row in rows if forgotten else ():
        row.proposal = {} if row.state == "skipped" else row.proposal
    DreamChange.objects.bulk_create(rows)


def _row(run: DreamRun, outcome: Outcome, *, proposed: bool) -> DreamChange:
    """Of a change that is only proposed nothing is kept of what it touched: that may be forgotten meanwhile."""
    change, skip = outcome.change, outcome.skip
    return DreamChange(
        account_id=run.account_id,
        run=run,
        number=change.number,
        op=change.op,
        memories=_named(run, change),
        made=None if proposed or outcome.made is None else outcome.made.id,
        proposal=clean_told(change),
        before=[] if proposed else outcome.before,
        after=[] if proposed else outcome.after,
        state="skipped" if skip else "proposed" if proposed else "applied",
        code=skip.code if skip else "",
        note=skip.note if skip else "",
    )


def _named(run: DreamRun, change: Proposed) -> list[UUID]:
    """Those of the run's input; whatever else it names is nobody's business."""
    known = {UUID(id) for id in run.input}
    named = [parsed for id in change.ids if (parsed := _parsed(id)) in known]
    return [id for id in named if id]


def _parsed(id: str) -> UUID | None:
    try:
        return parse_id("mem", id)
    except NotFound:
        return None


def _conclude(actor: Actor, run: DreamRun, *, none: str = "no_changes") -> None:
    if run.changes.filter(state="applied").exists():
        run.undo_until = timezone.now() + UNDO
        finish(actor, run, "applied", fields=["undo_until"])
        enqueue(PURGE, run.account_id, run.id, run_after=run.undo_until)
    else:
        finish(actor, run, none)
