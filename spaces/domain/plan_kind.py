"""How plans leave and arrive. No query to forget reaches them: they are deleted one by one, with every version."""

from collections.abc import Iterator, Sequence
from functools import partial
from itertools import pairwise
from typing import Any

from django.db.models import Prefetch

from accounts.actor import Actor
from memoryhub.common.ids import typed_id
from memoryhub.common.times import format_time
from spaces.domain.arriving import Fields, Shape, arrive, written_by
from spaces.domain.kinds import Arrival, Kept, Kind, Row, in_batches, register_kind
from spaces.domain.plans import CLEANERS, state, what_changed
from spaces.domain.unified import unified_diff
from spaces.domain.whole import erase_rows
from spaces.models import Plan, PlanVersion, Space

OLDEST_FIRST = Prefetch("versions", queryset=PlanVersion.objects.order_by("version"))
BATCH = 20
"""A plan and its versions may have megabytes."""


def export(actor: Actor, space: Space | None) -> Iterator[Row]:
    if space is not None:
        rows = Plan.objects.visible_to(actor).inside(space).prefetch_related(OLDEST_FIRST)
        yield from map(_row, in_batches(rows, BATCH))


def _row(plan: Plan) -> Row:
    return {
        **tell(plan),
        "versions": [
            {
                "version": version.version,
                "written_by": version.written_by,
                "written_at": format_time(version.written_at),
                **version.data,
                "diff": version.diff,
                "changed": version.changed,
            }
            for version in plan.versions.all()
        ],
    }


def tell(plan: Plan) -> Row:
    return {
        "id": typed_id("pln", plan.id),
        **state(plan),
        "version": plan.version,
        "written_by": plan.written_by,
        "created_at": format_time(plan.created_at),
        "updated_at": format_time(plan.updated_at),
    }


def read(arrival: Arrival, row: Fields) -> Plan:
    given: dict[str, Any] = {name: row.text(name) for name in ("title", "content")}
    given |= {name: row.text(name) for name in ("type", "status") if row.row.get(name) is not None}
    given |= {"tags": row.texts("tags"), "metadata": row.mapping("metadata")}
    return Plan(
        space=arrival.space,
        **{name: CLEANERS[name](value) for name, value in given.items()},
        version=row.whole("version", 1, least=1),
        written_by=written_by(row),
        created_at=row.moment("created_at", arrival.now),
        updated_at=row.moment("updated_at", arrival.now),
    )


def with_the_one_in_force(plan: Plan, versions: Sequence[PlanVersion]) -> list[PlanVersion]:
    """What a version changed follows from the one before it, whatever the file says."""
    kept = sorted((v for v in versions if v.version < plan.version), key=lambda v: v.version)
    now = PlanVersion(
        account_id=plan.account_id,
        plan_id=plan.id,
        version=plan.version,
        data=state(plan),
        written_by=plan.written_by,
        written_at=plan.updated_at,
    )
    every = [*kept, now]
    for before, after in pairwise(every):
        after.diff = unified_diff(before.data["content"], after.data["content"])
        after.changed = what_changed(before.data, after.data)
    return every


SHAPE = Shape(
    prefix="pln",
    model=Plan,
    read=read,
    tell=tell,
    place=lambda plan: None,
    standing=lambda arrival, plans: (),
    stated=("title", "content"),
    event=("plan.created", "plan"),
    state=state,
    version=PlanVersion,
    owner="plan",
    complete=with_the_one_in_force,
)

PLANS = register_kind(
    Kind(
        prefix="pln",
        model_label="spaces.Plan",
        export=export,
        arrive=partial(arrive, SHAPE),
        kept=(
            Kept("spaces.Plan", ("title", "content", "tags", "metadata")),
            Kept("spaces.PlanVersion", ("data", "diff"), frozen=True),
        ),
        whole=partial(erase_rows, Plan, "pln", ("plan.deleted", "plan")),
    )
)
