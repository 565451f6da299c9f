"""How dreams leave and arrive, and what goes from them when a text is forgotten. No query to forget reaches a run
itself.

A run arrives as what happened: what was still under way has expired, and nothing is kept to undo it with.
"""

from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any
from uuid import UUID

from accounts.actor import Actor
from memoryhub.common.ids import typed_id
from memoryhub.common.times import format_time
from spaces.domain.arriving import BATCH, Fields, Shape, arrive, writer
from spaces.domain.checks import KIB, check_json
from spaces.domain.dreams.scrubbing import scrub
from spaces.domain.kinds import Arrival, Kept, Kind, Row, in_batches, register_kind
from spaces.models import DreamChange, DreamRun, Space
from spaces.models.dreams import FINISHED, KINDS, OPEN, OPS, STATES, THINKERS

CHANGES = "changes"
MOST_CHANGES = 1_000
PROPOSAL = 128 * KIB
EXPIRED = "expired"
SAID = ("kind", "thinker", "status", "review", "max_changes", "notes", "trouble", "model")
COUNTS = ("tokens_in", "tokens_out", "think_ms")
WRITERS = ("started_by", "submitted_by", "decided_by", "undone_by")
TIMES = ("expires_at", "submitted_at", "finished_at", "undone_at")


def export(actor: Actor, space: Space | None) -> Iterator[Row]:
    if space is not None:
        rows = DreamRun.objects.visible_to(actor).inside(space).prefetch_related("changes")
        yield from map(_row, in_batches(rows))


def _row(run: DreamRun) -> Row:
    changes = sorted(run.changes.all(), key=lambda change: change.number)
    return {**tell(run), "changes": [_change(change) for change in changes]}


def tell(run: DreamRun) -> Row:
    return {
        "id": typed_id("run", run.id),
        **{name: getattr(run, name) for name in (*SAID, *COUNTS, *WRITERS)},
        "conflicts": run.conflicts,
        "version": run.version,
        "created_at": format_time(run.created_at),
        **{name: format_time(at) if (at := getattr(run, name)) else None for name in TIMES},
    }


def _change(change: DreamChange) -> Row:
    return {
        "index": change.number,
        "op": change.op,
        "ids": [typed_id("mem", id) for id in change.memories],
        "new_id": typed_id("mem", change.made) if change.made else None,
        "proposal": change.proposal,
        "state": change.state,
        "code": change.code,
        "reason": change.note,
    }


def read(arrival: Arrival, row: Fields) -> DreamRun:
    status = row.one_of("status", (EXPIRED, *FINISHED, *OPEN))
    created = row.moment("created_at", arrival.now)
    times = {name: row.moment_or_none(name) for name in TIMES}
    run = DreamRun(
        space=arrival.space,
        kind=row.one_of("kind", KINDS),
        thinker=row.one_of("thinker", THINKERS),
        status=EXPIRED if status in OPEN else status,
        review=row.flag("review"),
        max_changes=row.whole("max_changes", 25),
        notes=row.label("notes", 2_000),
        trouble=row.label("trouble", 300),
        model=row.label("model", 200),
        **{name: row.whole(name, 0) if row.row.get(name) is not None else None for name in COUNTS},
        **{name: writer(row, name) for name in WRITERS},
        conflicts=[_conflict(arrival, Fields(said)) for said in row.items("conflicts")],
        version=row.whole("version", 1, least=1),
        created_at=created,
        **{**times, "finished_at": times["finished_at"] or (created if status in FINISHED else None)},
    )
    run.__dict__[CHANGES] = _changes(arrival, row)
    return run


def _conflict(arrival: Arrival, said: Fields) -> Row:
    return {
        "id": typed_id("mem", arrival.id(said.id("id", "mem"))),
        "code": said.label("code", 20),
        "reason": said.label("reason", 300),
    }


def _changes(arrival: Arrival, row: Fields) -> list[DreamChange]:
    items = row.items("changes")
    changes = [_read_change(arrival, Fields(said)) for said in items[:MOST_CHANGES]]
    if len(items) > MOST_CHANGES or len({change.number for change in changes}) < len(changes):
        raise row.refused("changes", f"Must be at most {MOST_CHANGES}, each with an index of its own.")
    return changes


def _read_change(arrival: Arrival, said: Fields) -> DreamChange:
    proposal = said.mapping("proposal")
    check_json(proposal, PROPOSAL, "proposal")
    made = said.id("new_id", "mem") if said.row.get("new_id") is not None else None
    return DreamChange(
        account_id=arrival.account_id,
        number=min(said.whole("index", 0), MOST_CHANGES),
        op=said.one_of("op", OPS),
        memories=[arrival.id(id) for id in said.ids("ids", "mem")],
        made=arrival.id(made) if made else None,
        proposal=proposal,
        state=said.one_of("state", STATES),
        code=said.label("code", 20),
        note=said.label("reason", 300),
    )


def placed(arrival: Arrival, runs: Sequence[DreamRun]) -> None:
    changes: dict[UUID, list[Any]] = {run.id: run.__dict__.pop(CHANGES, []) for run in runs}
    DreamChange.objects.filter(account_id=arrival.account_id, run__in=runs).delete()
    for id, of_it in changes.items():
        for change in of_it:
            change.run_id = id
    DreamChange.objects.bulk_create((c for of_it in changes.values() for c in of_it), batch_size=BATCH)


def settled(one: DreamRun, stored: DreamRun) -> bool:
    """What is under way here goes on, and what never came to anything says nothing."""
    return stored.is_open or one.status == EXPIRED


SHAPE = Shape(
    prefix="run",
    model=DreamRun,
    read=read,
    tell=tell,
    place=lambda run: None,
    standing=lambda arrival, runs: (),
    stated=("notes",),
    event=("dream.imported", "dream"),
    settled=settled,
    placed=placed,
    links=("conflicts", *WRITERS),
)

DREAMS = register_kind(
    Kind(
        prefix="run",
        model_label="spaces.DreamRun",
        export=export,
        scrub=scrub,
        kept=(
            Kept("spaces.DreamRun", ("notes", "conflicts")),
            Kept("spaces.DreamChange", ("proposal", "before", "note")),
        ),
        plural="dreams",
        arrive=partial(arrive, SHAPE),
    )
)
