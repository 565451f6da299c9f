"""What is forgotten is in no run, no memory that a dream made, and no later dream."""

import json
from typing import Any

import pytest
from django.db import connection

from spaces.domain.kinds import all_kinds
from spaces.models import DreamChange, DreamRun
from tests.calls import call
from tests.spaces.domain.dreams.stage import Dreamer, row

pytestmark = pytest.mark.django_db

A = "Heliotrope is what Marta calls the vault"
B = "Marta keeps the vault in Porto"
MERGED = "Marta keeps the vault, which she calls Heliotrope, in Porto"


def nowhere(word: str) -> bool:
    """In no row of any table of the team, and in nothing that is exported."""
    with connection.cursor() as cursor:
        cursor.execute(
            "select table_name from information_schema.tables where table_schema = 'public'"
            " and (table_name like 'spaces_%%' or table_name like 'accounts_event')"
        )
        tables = [name for (name,) in cursor.fetchall()]
        for table in tables:
            cursor.execute(f"select count(*) from {table} t where t::text ilike %s", [f"%{word}%"])
            if cursor.fetchone()[0]:
                return False
    return True


def exported(dreamer: Dreamer) -> str:
    space = dreamer.cast.space
    return json.dumps([list(kind.export(dreamer.cast.owner, space)) for kind in all_kinds()], default=str)


def merged(dreamer: Dreamer) -> tuple[str, str, dict[str, Any]]:
    dreamer.fills()
    a, b = dreamer.remembers(A), dreamer.remembers(B)
    report = dreamer.dreams(
        {"op": "merge", "ids": [a, b], "text": MERGED, "reason": "both tell of Heliotrope"},
        {"op": "drop", "id": "mem_x", "reason": "Heliotrope again"},
        notes="The vault is Heliotrope",
    )
    assert len(report["applied"]) == 1
    return a, b, report


@pytest.mark.parametrize("how", ["id", "query"])
def test_a_forgotten_source_is_in_nothing_that_was_made_of_it(dreamer: Dreamer, how: str) -> None:
    a, b, report = merged(dreamer)
    call(dreamer.actor, "forget", **({"ids": [a]} if how == "id" else {"query": "heliotrope"}))
    assert nowhere("heliotrope")
    assert "eliotrope" not in exported(dreamer)
    assert (row(b).status, row(b).text) == ("active", B)
    undone = dreamer.undoes(report["run_id"], force=True)
    assert a in {left["id"] for left in undone["conflicts"] if left["code"] == "gone"}
    assert nowhere("heliotrope")
    dreamer.passes_days(1.1)
    call(dreamer.actor, "journal_write", date="2026-01-01", summary="Quiet")
    assert "eliotrope" not in str(dreamer.job())


def test_a_dry_run_tells_of_what_would_go_with_it(dreamer: Dreamer) -> None:
    a, _b, report = merged(dreamer)
    made = report["applied"][0]["new_id"]
    rehearsed = call(dreamer.actor, "forget", ids=[a], dry_run=True)
    assert sorted(rehearsed["ids"]["memories"]) == sorted([a, made])
    assert row(made).status == "active"


def test_what_a_forgotten_memory_was_merged_from_goes_too(dreamer: Dreamer) -> None:
    a, b, report = merged(dreamer)
    made = report["applied"][0]["new_id"]
    forgotten = call(dreamer.actor, "forget", ids=[made])
    assert sorted(forgotten["ids"]["memories"]) == sorted([a, b, made])
    assert nowhere("heliotrope")
    assert nowhere("porto")


def test_merges_of_merges_are_followed(dreamer: Dreamer) -> None:
    a, b, report = merged(dreamer)
    made = report["applied"][0]["new_id"]
    c = dreamer.remembers("Marta keeps the vault in Porto, on the third floor")
    dreamer.passes_days(1.1)
    call(dreamer.actor, "journal_write", date="2026-01-01", summary="Quiet")
    again = dreamer.dreams({"op": "merge", "ids": [made, c], "text": f"{MERGED}, on the third floor"})
    top = again["applied"][0]["new_id"]
    call(dreamer.actor, "forget", ids=[a])
    assert nowhere("heliotrope")
    assert [row(id).status for id in (b, c)] == ["active", "active"]
    assert refused_to_read(dreamer, top)


def refused_to_read(dreamer: Dreamer, id: str) -> bool:
    from tests.calls import refused

    return refused(dreamer.actor, "memory_get", id=id)["code"] == "not_found"


def test_what_a_dream_added_goes_with_what_it_was_added_from(dreamer: Dreamer) -> None:
    dreamer.fills()
    a, b = dreamer.remembers(A), dreamer.remembers(B)
    dreamer.dreams({"op": "add", "text": "Marta calls the vault Heliotrope", "source_ids": [a, b]})
    call(dreamer.actor, "forget", ids=[a])
    assert nowhere("heliotrope")
    assert row(b).status == "active"


def test_what_an_update_said_before_is_forgotten_with_the_words(dreamer: Dreamer) -> None:
    dreamer.fills()
    a = dreamer.remembers("Marta keeps the vault; the vault is Heliotrope")
    report = dreamer.dreams({"op": "update", "id": a, "text": "Marta keeps the vault"})
    call(dreamer.actor, "forget", query="heliotrope")
    assert nowhere("heliotrope")
    undone = dreamer.undoes(report["run_id"], force=True)
    assert [left["code"] for left in undone["conflicts"]] == ["gone"]
    assert row(a).text == "Marta keeps the vault"


def test_a_dropped_memory_is_found_by_what_is_to_be_forgotten(dreamer: Dreamer) -> None:
    dreamer.fills()
    a = dreamer.remembers(A)
    report = dreamer.dreams({"op": "drop", "id": a})
    call(dreamer.actor, "forget", query="heliotrope")
    assert nowhere("heliotrope")
    assert dreamer.undoes(report["run_id"])["conflicts"][0]["code"] == "gone"


def test_a_job_that_is_out_yields_nothing_of_what_is_forgotten_meanwhile(dreamer: Dreamer) -> None:
    dreamer.fills()
    a, b = dreamer.remembers(A), dreamer.remembers(B)
    job = dreamer.job()
    assert "Heliotrope" in str(job)
    call(dreamer.actor, "forget", query="heliotrope")
    assert "Heliotrope" not in str(dreamer.job())
    report = dreamer.submits(
        job["run_id"],
        {"op": "merge", "ids": [a, b], "text": MERGED, "reason": "Heliotrope"},
        notes="nothing",
    )
    assert [one["code"] for one in report["skipped"]] == ["stale"]
    assert nowhere("heliotrope")


def test_a_phrase_forgotten_in_the_journal_is_not_in_what_a_model_noted(dreamer: Dreamer) -> None:
    a, *_ = dreamer.fills()
    call(dreamer.actor, "journal_write", date="2026-01-01", summary="The code word is periwinkle")
    dreamer.dreams(
        {"op": "retier", "id": a, "tier": "core", "reason": "the journal says periwinkle"},
        notes="Periwinkle was agreed on",
    )
    call(dreamer.actor, "forget", query="periwinkle", scopes=["journal"])
    assert nowhere("periwinkle")


def test_what_has_nothing_to_do_with_it_stays(dreamer: Dreamer) -> None:
    ids = dreamer.fills()
    report = dreamer.dreams({"op": "drop", "id": ids[5], "reason": "said often"}, notes="a note")
    call(dreamer.actor, "forget", query="heliotrope")
    assert (DreamRun.objects.get().notes, DreamChange.objects.get().proposal["reason"]) == (
        "a note",
        "said often",
    )
    assert dreamer.undoes(report["run_id"])["conflicts"] == []
