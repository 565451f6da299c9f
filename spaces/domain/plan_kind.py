"""How plans leave. No query to forget reaches them: they are deleted one by one, with every version."""

from collections.abc import Iterator

from django.db.models import Prefetch

from accounts.actor import Actor
from memoryhub.common.ids import typed_id
from memoryhub.common.times import format_time
from spaces.domain.kinds import Kind, Row, in_batches, register_kind
from spaces.domain.plans import state
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
        "id": typed_id("pln", plan.id),
        **state(plan),
        "version": plan.version,
        "written_by": plan.written_by,
        "created_at": format_time(plan.created_at),
        "updated_at": format_time(plan.updated_at),
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


PLANS = register_kind(Kind(prefix="pln", model_label="spaces.Plan", export=export))
