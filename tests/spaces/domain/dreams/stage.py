"""A space that dreams, and a model that says what the test wants it to."""

from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from django.db.models import F

from accounts.actor import Actor
from memoryhub.common.ids import parse_id
from spaces.domain.spaces import Settings, update_space
from spaces.models import DreamRun, Memory, MemoryVersion
from tests.calls import call
from tests.conftest import Cast

FILLER = (
    "The deploy window is Tuesday 14:00 UTC",
    "Deploys happen on Tuesday at 14:00 UTC",
    "Ana leads the billing team",
    "Invoices leave on the first of each month",
    "The staging database is copied nightly",
    "Support answers within one working day",
    "Backups are kept for thirty days",
    "The office closes at six",
    "Rui maintains the mobile app",
    "Coffee beans come from the shop downstairs",
)


@dataclass
class Dreamer:
    """An agent in a space in client mode."""

    cast: Cast
    actor: Actor

    def remembers(self, text: str, **given: Any) -> str:
        return str(call(self.actor, "remember", text=text, **given)["memory"]["id"])

    def fills(self, count: int = 10) -> list[str]:
        return [self.remembers(text) for text in FILLER[:count]]

    def job(self) -> dict[str, Any]:
        job = call(self.actor, "dream_next_job")["job"]
        assert job is not None
        return dict(job)

    def dreams(self, *changes: dict[str, Any], **more: Any) -> dict[str, Any]:
        """The report of a run in which the model answers these changes."""
        return self.submits(self.job()["run_id"], *changes, **more)

    def submits(self, run_id: str, *changes: dict[str, Any], **more: Any) -> dict[str, Any]:
        result = {"changes": [{"reason": "tidier", **change} for change in changes], **more}
        return call(self.actor, "dream_submit", run_id=run_id, result=result)

    def passes_days(self, days: float) -> None:
        """As if everything that happened had happened so much earlier."""
        earlier = timedelta(days=days)
        for name in ("created_at", "expires_at", "finished_at", "undo_until"):
            DreamRun.objects.filter(**{f"{name}__isnull": False}).update(**{name: F(name) - earlier})

    def undoes(self, run_id: str, **options: Any) -> dict[str, Any]:
        return call(self.actor, "dream_undo", id=run_id, **options)


def dreamer_in(cast: Cast, **settings: Any) -> Dreamer:
    wanted = Settings(**{"dream_mode": "client", **settings})
    update_space(cast.owner, wanted, space=cast.space.id)
    return Dreamer(cast, cast.agent)


def row(id: str) -> Memory:
    return Memory.objects.get(id=parse_id("mem", id))


def everything() -> list[dict[str, Any]]:
    """Every column of every memory, and every kept version, but for what is derived or only marks a row."""
    derived = ("search_vector", "search_weights", "identity")
    names = [f.attname for f in Memory._meta.concrete_fields if f.attname not in derived]
    memories = list(Memory.objects.order_by("id").values(*names))
    versions = MemoryVersion.objects.order_by("memory_id", "version")
    return memories + list(versions.values("memory_id", "version", "data", "written_by", "written_at"))


def skipped(report: dict[str, Any]) -> list[str]:
    """The codes, in the order of the changes."""
    return [change["code"] for change in report["skipped"]]
