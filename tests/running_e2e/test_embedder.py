"""The model of a whole Memory Hub: built on the first start, and no vector lost whatever is killed."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import httpx2 as httpx
import psycopg
import pytest

from tests.running_e2e.harness import PEOPLE, Hub, hub, person_named, until

MISSING = """
    select count(*) from spaces_memory m where not exists
      (select 1 from spaces_memorychunk c where c.account_id = m.account_id and c.memory_id = m.id)
"""


@pytest.fixture(scope="module")
def instance(place: Path) -> Iterator[Hub]:
    with person_named(PEOPLE[0], place) as owner, hub(replace(owner, variables={})) as made:
        made.start()
        until(made.ready, "readiness")
        yield made


def ask(hub: Hub, query: str) -> int:
    sockets = hub.data_dir / "postgres/run"
    with psycopg.connect(f"host={sockets} user=hub_owner dbname=memoryhub") as connection:
        return int(connection.execute(query).fetchone()[0])  # type: ignore[index]


def write(hub: Hub, *texts: str) -> None:
    headers = {"Authorization": f"Bearer {hub.first_run['agent_key']}"}
    with httpx.Client(base_url=hub.url, headers=headers, timeout=30) as client:
        for text in texts:
            assert client.post("/v1/memories", json={"text": text}).is_success


def settled(hub: Hub) -> bool:
    return (
        ask(hub, MISSING) == 0 and ask(hub, "select count(*) from accounts_job where lane = 'embedding'") == 0
    )


def test_the_first_start_builds_the_model_and_shows_how_far_it_is(running: Hub) -> None:
    told = [int(share) for share in re.findall(r"multilingual-e5-small: .* \((\d+) %\)", running.said)]
    assert told == sorted(told)
    assert (told[0], told[-1]) == (10, 100)
    answer = httpx.get(f"{running.url}/readyz").json()
    assert (answer["search"], answer["model"]) == ("meaning and words", "multilingual-e5-small")


def test_the_embedder_answers_its_own_user_alone(running: Hub) -> None:
    path = running.data_dir / "run" / "embedder.sock"
    assert path.stat().st_mode & 0o077 == 0
    assert path.parent.stat().st_mode & 0o077 == 0


def test_what_is_written_gets_its_vectors(running: Hub) -> None:
    write(running, *[f"Fact number {i} about the harbour" for i in range(20)])
    until(lambda: settled(running), "vectors of everything")


@pytest.mark.parametrize(
    "name",
    ["worker", "embedder", *(pytest.param(name, marks=pytest.mark.slow) for name in ("web", "postgres"))],
)
def test_whoever_is_killed_in_the_middle_no_vector_is_lost(running: Hub, name: str) -> None:
    write(running, *[f"Fact {i} written before {name} is killed" for i in range(60)])
    running.kill_child(name)
    write(running, *[f"Fact {i} written after {name} was killed" for i in range(5)])
    until(lambda: settled(running), "vectors of everything")


def test_a_later_start_uses_the_model_that_is_there(running: Hub) -> None:
    running.press_ctrl_c()
    running.start()
    until(running.ready, "readiness")
    assert "Writing the network" not in running.said


def test_reembedding_shows_its_progress_and_leaves_nothing_out(running: Hub) -> None:
    latest = "select max(id) from spaces_embeddingmodel"
    write(running, "Fact to be embedded anew")
    before = ask(running, latest)
    answer = running.run("reembed", "--anew")
    assert answer.returncode == 0, answer.stderr
    count = ask(running, "select count(*) from spaces_memory")
    assert f"100.0%  {count} of {count} memories  multilingual-e5-small" in answer.stdout
    assert ask(running, f"{latest} where state = 'active'") > before
    editions = "select count(distinct model_id) from spaces_memorychunk"
    until(lambda: ask(running, editions) == 1, "the end of the old vectors")


def test_without_the_embedder_everything_else_works_and_says_so(place: Path) -> None:
    with person_named(PEOPLE[0], place) as owner, hub(owner, "plain") as made:
        made.start()
        until(made.ready, "readiness")
        assert httpx.get(f"{made.url}/readyz").json()["search"] == "words"
        assert made.pid("embedder") is None
        write(made, "Kept, and found by words")
        assert ask(made, "select count(*) from accounts_job where lane = 'embedding'") == 0
