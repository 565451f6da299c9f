"""What dreams cost besides the model: a dream over as many memories as one looks at, and clusters of many more."""

import time
from collections.abc import Callable, Iterator
from random import Random
from typing import TYPE_CHECKING

from memoryhub.bench.table import Row

if TYPE_CHECKING:
    from spaces.models import Space

DREAMT, DREAM_SECONDS = 200, 2.0
COMPARED, COMPARE_SECONDS = 10_000, 60.0
BATCH = 500
CHANGES = 25
TEAMS = ("billing", "support", "mobile", "search", "data", "design", "sales", "platform", "security", "docs")
THINGS = (
    "deploy",
    "release",
    "backup",
    "review",
    "invoice",
    "survey",
    "migration",
    "rota",
    "report",
    "audit",
)
PLACES = ("Porto", "Zurich", "Osaka", "Bogota", "Tallinn", "Lagos", "Bergen", "Turin", "Quito", "Leeds")


def measure() -> list[Row]:
    """Within a hub of its own."""
    dreamt = over(DREAMT, _dream)
    compared = over(COMPARED, _cluster)
    return [
        Row(f"a dream over {DREAMT} memories", 1000 * dreamt, "ms", dreamt / DREAM_SECONDS, at_most=1.0),
        Row(
            f"clusters of {COMPARED} memories", 1000 * compared, "ms", compared / COMPARE_SECONDS, at_most=1.0
        ),
    ]


def over(count: int, act: "Callable[[Space], None]") -> float:
    """Seconds, with so many memories in a space made for it."""
    space = _space(count)
    began = time.perf_counter()
    act(space)
    return time.perf_counter() - began


def statements(count: int) -> Iterator[str]:
    """Facts of a team; every tenth is said a second time in nearly the same words."""
    random = Random(7)  # noqa: S311
    said: list[str] = []
    while len(said) < count:
        team, thing, place = (random.choice(words) for words in (TEAMS, THINGS, PLACES))
        text = (
            f"The {thing} number {len(said)} of the {team} team in {place} takes {random.randint(2, 90)} minutes, "
            f"needs {random.randint(2, 9)} people and is written down by the one who had it last"
        )
        said.append(text)
        if len(said) % 10 == 0:
            said.append(text.replace(", needs", " and needs"))
    yield from said[:count]


def _space(count: int) -> "Space":
    from accounts.actor import system_actor
    from accounts.domain.accounts import only_account
    from memoryhub.common.tenancy import tenant
    from spaces.domain.memories import remember_each
    from spaces.domain.spaces import Settings, create_space, update_space

    actor = system_actor(only_account(None).id)
    texts = list(statements(count))
    with tenant(actor.account_id):
        space = create_space(actor, name=f"Bench {count}")
        space = update_space(actor, Settings(dream_mode="client"), space=space.id)
    for start in range(0, count, BATCH):
        with tenant(actor.account_id):
            batch = [{"text": text} for text in texts[start : start + BATCH]]
            remember_each(actor.in_space(space.slug), batch)  # type: ignore[arg-type]
    return space


def _dream(space: "Space") -> None:
    """All that is done besides thinking: the job, the rules, the changes."""
    from accounts.actor import system_actor
    from memoryhub.common.tenancy import tenant
    from spaces.domain.dreams.settling import next_job, submit

    actor = system_actor(space.account_id).in_space(space.slug)
    with tenant(space.account_id):
        job, _due = next_job(actor)
        assert job is not None
    memories = job["input"]["memories"]
    changes = [
        {"op": "update", "id": one["id"], "text": one["text"].removesuffix(" last"), "reason": "shorter"}
        for one in memories[:CHANGES]
    ]
    with tenant(space.account_id):
        run = submit(actor, job["run_id"], {"changes": changes})
        assert run.changes.filter(state="applied").count() == CHANGES


def _cluster(space: "Space") -> None:
    from spaces.domain.dreams.clustering import cluster_space

    run = cluster_space(space.account_id, space.id)
    assert run is not None
    assert run.status == "applied"
