"""The model of a whole Memory Hub: built on the first start, and no vector lost whatever is killed."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

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


FACTS = [
    "The office dog is called Biscuit and sleeps in the editors' room",
    "Rent for the warehouse is due on the last working day",
    "Database failover takes forty seconds",
    "Ben is on parental leave until April",
    "社内の飼い猫の名前はもなかで、昼は編集部で寝ている。",
    "データベースのバックアップは毎朝四時に自動で取得される。",
    "五万円を超える経費には部長の承認が必要。",
    "会議室の予約は前日の正午までに済ませること。",
]


def recalled(hub: Hub, question: str) -> dict[str, Any]:
    """The first result, and whether it was compared by its vector."""
    headers = {"Authorization": f"Bearer {hub.first_run['agent_key']}"}
    asked = {"q": question, "limit": 3, "explain": True}
    answer = httpx.get(f"{hub.url}/v1/memories", params=asked, headers=headers, timeout=30).json()
    first = answer["items"][0]
    reason = next(one for one in answer["explain"] if one["id"] == first["id"])
    return {"id": first["id"], "text": first["text"], "by meaning": reason["cosine"] is not None}


@pytest.mark.parametrize(
    ("question", "fact"),
    [
        ("What do we call our pet?", 0),
        ("編集部にいるペットは何と呼ばれている?", 4),
        ("高額な出費は誰が認めるの", 6),
        ("打ち合わせの部屋はいつまでに押さえればよいか", 7),
        ("When is a copy of all our data made automatically?", 5),
    ],
)
def test_a_question_in_other_words_or_another_language_finds_its_fact(
    running: Hub, question: str, fact: int
) -> None:
    write(running, *FACTS)  # the same again is stored once
    until(lambda: settled(running), "vectors of everything")
    found = recalled(running, question)
    assert (found["text"], found["by meaning"]) == (FACTS[fact], True)


def test_an_edited_fact_is_found_by_its_new_meaning_and_no_more_by_the_old(running: Hub) -> None:
    write(running, "Our fastest printer stands beside the lift")
    until(lambda: settled(running), "vectors of everything")
    found = recalled(running, "Where can I put a document on paper quickly?")
    assert found["text"] == "Our fastest printer stands beside the lift"
    headers = {"Authorization": f"Bearer {running.first_run['agent_key']}"}
    changed = {"text": "Strawberries ripen in the greenhouse in June"}
    address = f"{running.url}/v1/memories/{found['id']}"
    httpx.patch(address, json=changed, headers=headers, timeout=30).raise_for_status()
    until(lambda: settled(running), "vectors of everything")
    assert recalled(running, "Which fruit do we harvest in early summer?")["id"] == found["id"]
    assert recalled(running, "Where can I put a document on paper quickly?")["id"] != found["id"]


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
