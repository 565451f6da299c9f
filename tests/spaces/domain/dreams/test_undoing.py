"""Undo: to the byte, but for what somebody did since."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
import time_machine
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import accounts.tasks  # noqa: F401
import spaces.tasks  # noqa: F401
from accounts.domain.jobs import run_due_jobs
from memoryhub.common.ids import parse_id
from memoryhub.common.tenancy import tenant
from spaces.domain.dreams.images import COUNTED, DERIVED, FIXED, image_of
from spaces.models import DreamChange, Memory, MemoryVersion
from tests.calls import at_once, call, refused
from tests.conftest import Cast
from tests.matrix.world import undone
from tests.spaces.domain.dreams.stage import FILLER, Dreamer, dreamer_in, everything, row

pytestmark = pytest.mark.django_db

MERGED = "The deploy window is Tuesday 14:00 UTC"
FAR = "2099-01-01"


def one_of_each(ids: list[str]) -> list[dict[str, Any]]:
    a, b, c, d, e, f, g, *_ = ids
    return [
        {"op": "merge", "ids": [a, b], "text": MERGED, "tags": ["deploy"]},
        {"op": "update", "id": c, "text": "Ana leads billing", "tags": ["billing"]},
        {"op": "retier", "id": d, "tier": "core"},
        {"op": "expire", "id": e, "expires_at": FAR},
        {"op": "drop", "id": f},
        {"op": "add", "text": "Backups are kept for thirty days by us", "source_ids": [g]},
    ]


def test_undo_puts_everything_back_to_the_byte(dreamer: Dreamer) -> None:
    ids = dreamer.fills()
    before = everything()
    report = dreamer.dreams(*one_of_each(ids))
    assert len(report["applied"]) == 6
    assert everything() != before
    undone = dreamer.undoes(report["run_id"])
    assert everything() == before
    assert (undone["status"], undone["conflicts"]) == ("undone", [])
    assert sorted(undone["restored"]) == sorted(ids[:6])
    assert sorted(undone["removed"]) == sorted(one["new_id"] for one in report["applied"] if one["new_id"])


def test_what_was_dropped_is_found_again_after_an_undo(dreamer: Dreamer) -> None:
    ids = dreamer.fills()
    report = dreamer.dreams({"op": "drop", "id": ids[5]})
    assert call(dreamer.actor, "recall", q="support")["items"] == []
    assert call(dreamer.actor, "recall", q="support", status="all")["items"] == []
    dreamer.undoes(report["run_id"])
    assert [item["id"] for item in call(dreamer.actor, "recall", q="support")["items"]] == [ids[5]]


def test_an_image_has_every_column_that_is_not_counted_or_derived() -> None:
    columns = {field.attname for field in Memory._meta.concrete_fields}
    now = datetime.now(UTC)
    held = set(image_of(Memory(occurred_at=now, updated_at=now, created_at=now, last_seen_at=now)))
    assert held == columns - {*COUNTED, *DERIVED, *FIXED} | {"id"}


CHANGES = st.lists(
    st.fixed_dictionaries(
        {
            "op": st.sampled_from(["merge", "update", "retier", "expire", "drop", "add"]),
            "picks": st.lists(st.integers(0, 13), min_size=2, max_size=4, unique=True),
            "tier": st.sampled_from(["core", "long", "scratch"]),
            "tags": st.lists(st.sampled_from(["a", "b", "ü"]), max_size=2, unique=True),
            "words": st.sampled_from(["first", "joined", "own"]),
        }
    ),
    min_size=1,
    max_size=12,
)


SHARED = settings(suppress_health_check=[HealthCheck.function_scoped_fixture])


@given(rounds=st.lists(CHANGES, min_size=1, max_size=3))
@settings(SHARED, max_examples=10)
def test_whatever_was_applied_undone_in_order_is_as_before(dreamer: Dreamer, rounds: list[Any]) -> None:
    check_undone(dreamer, rounds)


@pytest.mark.slow
@given(rounds=st.lists(CHANGES, min_size=1, max_size=4))
@settings(SHARED, max_examples=400)
def test_whatever_was_applied_undone_in_order_is_as_before_many_times(
    dreamer: Dreamer, rounds: list[Any]
) -> None:
    check_undone(dreamer, rounds)


def check_undone(dreamer: Dreamer, rounds: list[Any]) -> None:
    with undone():
        stock(dreamer)
        states, runs = [], []
        for changes in rounds:
            job = dreamer.job()
            states.append(everything())
            ids = [one["id"] for one in job["input"]["memories"]]
            report = dreamer.submits(job["run_id"], *(drawn(change, ids) for change in changes))
            runs.append(report)
            dreamer.passes_days(1.1)
            call(dreamer.actor, "journal_write", date="2026-01-01", summary=f"round {len(runs)}")
        for report in reversed(runs):
            if report["status"] == "applied":
                assert dreamer.undoes(report["run_id"])["conflicts"] == []
            assert everything() == states.pop()


def stock(dreamer: Dreamer) -> None:
    for n, text in enumerate(FILLER):
        dreamer.remembers(text, tier=("long", "core", "scratch")[n % 3], tags=["x"] if n % 2 else [])
    dreamer.remembers("Said by the person: tea at four", origin="user")
    dreamer.remembers("Pinned: the office closes at six", pinned=True)
    dreamer.remembers("The office closes at six sharp", expires_at=FAR)
    call(dreamer.actor, "memory_update", id=dreamer.remembers("Edited before"), text="Edited before, once")


def drawn(change: dict[str, Any], ids: list[str]) -> dict[str, Any]:
    picks = [ids[pick % len(ids)] for pick in change["picks"]]
    texts = {id: row(id).text for id in picks}
    first = texts[picks[0]]
    text = {"first": first, "joined": ". ".join(texts.values()), "own": first.rstrip(".") + " too"}
    said = text[change["words"]]
    fields: dict[str, dict[str, Any]] = {
        "merge": {"ids": list(dict.fromkeys(picks)), "text": said, "tier": change["tier"]},
        "update": {"id": picks[0], "text": said, "tags": ["x"]},
        "retier": {"id": picks[0], "tier": change["tier"]},
        "expire": {"id": picks[0], "expires_at": FAR},
        "drop": {"id": picks[0]},
        "add": {"text": said, "source_ids": picks},
    }
    op = change["op"]
    if op == "merge" and len(fields["merge"]["ids"]) < 2:
        op = "drop"
    return {"op": op, **fields[op]}


def test_memories_edited_since_are_left_and_listed(dreamer: Dreamer) -> None:
    ids = dreamer.fills()
    report = dreamer.dreams(*one_of_each(ids))
    made = report["applied"][0]["new_id"]
    call(dreamer.actor, "memory_update", id=ids[2], text="Ana leads billing and support")
    call(dreamer.actor, "memory_update", id=ids[3], pinned=True)
    call(dreamer.actor, "memory_update", id=made, subject="deploys")
    undone = dreamer.undoes(report["run_id"])
    assert {(left["id"], left["code"]) for left in undone["conflicts"]} == {
        (ids[2], "edited"),
        (ids[3], "edited"),
        (made, "edited"),
    }
    assert (row(ids[2]).text, row(ids[3]).pinned) == ("Ana leads billing and support", True)
    assert row(ids[0]).status == "active"


def test_a_forced_undo_keeps_what_it_writes_over(dreamer: Dreamer) -> None:
    ids = dreamer.fills()
    report = dreamer.dreams({"op": "update", "id": ids[2], "text": "Ana leads billing"})
    call(dreamer.actor, "memory_update", id=ids[2], text="Ana leads billing and support")
    undone = dreamer.undoes(report["run_id"], force=True)
    assert (undone["restored"], undone["conflicts"]) == ([ids[2]], [])
    assert (row(ids[2]).text, row(ids[2]).version) == (FILLER[2], 4)
    kept = MemoryVersion.objects.filter(memory_id=parse_id("mem", ids[2])).order_by("version")
    assert [version.data["text"] for version in kept] == [
        FILLER[2],
        "Ana leads billing",
        "Ana leads billing and support",
    ]


def test_what_was_forgotten_since_never_comes_back(dreamer: Dreamer) -> None:
    ids = dreamer.fills()
    report = dreamer.dreams(*one_of_each(ids))
    call(dreamer.actor, "forget", ids=[ids[5], ids[2]])
    undone = dreamer.undoes(report["run_id"], force=True)
    assert {left["id"] for left in undone["conflicts"] if left["code"] == "gone"} == {ids[5], ids[2]}
    assert not Memory.objects.filter(id__in=[parse_id("mem", id) for id in (ids[5], ids[2])]).exists()


def test_a_text_that_was_said_again_meanwhile_is_not_there_twice(dreamer: Dreamer) -> None:
    ids = dreamer.fills()
    report = dreamer.dreams({"op": "drop", "id": ids[5]})
    again = dreamer.remembers(FILLER[5])
    undone = dreamer.undoes(report["run_id"])
    assert [(left["id"], left["code"]) for left in undone["conflicts"]] == [(ids[5], "taken")]
    assert (row(again).status, row(ids[5]).status) == ("active", "dropped")


def test_a_core_that_filled_up_meanwhile_is_not_overfilled(dreamer: Dreamer) -> None:
    dreamer.fills(5)
    demoted = dreamer.remembers("y" * 1_000, tier="core")
    report = dreamer.dreams({"op": "retier", "id": demoted, "tier": "long"})
    for n in range(8):
        dreamer.remembers(f"{n} " + "x" * 1_490, tier="core")
    assert [left["code"] for left in dreamer.undoes(report["run_id"])["conflicts"]] == ["core_full"]
    assert row(demoted).tier == "long"


def test_a_dry_run_tells_what_an_undo_would_do_and_does_nothing(dreamer: Dreamer) -> None:
    ids = dreamer.fills()
    report = dreamer.dreams(*one_of_each(ids))
    call(dreamer.actor, "memory_update", id=ids[2], text="Ana leads billing and support")
    before = everything()
    rehearsed = dreamer.undoes(report["run_id"], dry_run=True)
    assert everything() == before
    assert rehearsed["status"] == "applied"
    real = dreamer.undoes(report["run_id"])
    assert {**real, "status": "", "dry_run": True} == {**rehearsed, "status": ""}


def test_undo_is_refused_after_seven_days(dreamer: Dreamer) -> None:
    ids = dreamer.fills()
    report = dreamer.dreams({"op": "drop", "id": ids[0]})
    dreamer.passes_days(7)
    before = everything()
    assert refused(dreamer.actor, "dream_undo", id=report["run_id"])["code"] == "undo_expired"
    assert everything() == before


def test_runs_built_on_one_are_undone_first(dreamer: Dreamer) -> None:
    ids = dreamer.fills()
    first = dreamer.dreams({"op": "merge", "ids": ids[:2], "text": MERGED})
    call(dreamer.actor, "journal_write", date="2026-01-01", summary="Quiet")
    dreamer.passes_days(1.1)
    made = first["applied"][0]["new_id"]
    second = dreamer.dreams({"op": "add", "text": "A deploy window on Tuesday", "source_ids": [made]})
    error = refused(dreamer.actor, "dream_undo", id=first["run_id"], force=True)
    assert (error["code"], error["details"]["current"]) == ("conflict", {"undo_first": [second["run_id"]]})
    dreamer.undoes(second["run_id"])
    assert dreamer.undoes(first["run_id"])["status"] == "undone"


def test_only_what_was_applied_is_undone_and_only_once(dreamer: Dreamer) -> None:
    ids = dreamer.fills()
    empty = dreamer.dreams()
    assert refused(dreamer.actor, "dream_undo", id=empty["run_id"])["code"] == "invalid_transition"
    dreamer.passes_days(1.1)
    call(dreamer.actor, "journal_write", date="2026-01-01", summary="Quiet")
    report = dreamer.dreams({"op": "drop", "id": ids[0]})
    dreamer.undoes(report["run_id"])
    assert refused(dreamer.actor, "dream_undo", id=report["run_id"])["code"] == "invalid_transition"
    assert call(dreamer.actor, "dream_run", id=report["run_id"])["status"] == "undone"


def test_what_was_dropped_is_gone_for_good_on_the_eighth_day(dreamer: Dreamer) -> None:
    ids = dreamer.fills()
    dreamer.dreams({"op": "drop", "id": ids[5]}, {"op": "retier", "id": ids[0], "tier": "core"})
    gone = Memory.objects.filter(id=parse_id("mem", ids[5]))
    start = datetime.now(UTC)
    with time_machine.travel(start + timedelta(days=6, hours=23)):
        run_due_jobs()
    assert gone.exists()
    with time_machine.travel(start + timedelta(days=7, minutes=1)):
        run_due_jobs()
    assert not gone.exists()
    assert FILLER[5] not in str(list(DreamChange.objects.values()))


def test_an_expiry_set_by_a_dream_erases_nothing_while_it_can_be_undone(dreamer: Dreamer) -> None:
    ids = dreamer.fills()
    before = everything()
    soon = (datetime.now(UTC) + timedelta(hours=1)).isoformat()
    report = dreamer.dreams({"op": "expire", "id": ids[5], "expires_at": soon})
    with time_machine.travel(datetime.now(UTC) + timedelta(days=2)):
        run_due_jobs()
        assert call(dreamer.actor, "recall", q="support")["items"] == []
        dreamer.undoes(report["run_id"])
    assert everything() == before


def test_vectors_of_the_dreams_text_go_with_it(dreamer: Dreamer) -> None:
    from spaces.domain.embeddings.documents import document
    from spaces.models import EmbeddingModel, MemoryChunk

    ids = dreamer.fills()
    report = dreamer.dreams({"op": "update", "id": ids[2], "text": "Ana leads billing"})
    changed = row(ids[2])
    model = EmbeddingModel.objects.create(
        name="m", dimensions=2, template_version=1, chunks_version=1, canaries=b"", cosine_unrelated=0,
        cosine_relevant=1, state="active", check_at=datetime.now(UTC),
    )  # fmt: skip
    MemoryChunk.objects.create(
        account_id=changed.account_id, memory=changed, model=model, space_id=changed.space_id,
        text_hash=document(changed).hash, vector=[0.6, 0.8],
    )  # fmt: skip
    dreamer.undoes(report["run_id"])
    assert not MemoryChunk.objects.exists()


@pytest.mark.django_db(transaction=True)
def test_of_many_who_undo_at_once_one_does(cast: Cast) -> None:
    with tenant(cast.account.id):
        dreamer = dreamer_in(cast)
        ids = dreamer.fills()
        before = everything()
        report = dreamer.dreams(*one_of_each(ids))
    answers = at_once(4, lambda _: dreamer.undoes(report["run_id"])["status"])
    assert sorted(getattr(answer, "code", answer) for answer in answers) == ["invalid_transition"] * 3 + [
        "undone"
    ]
    with tenant(cast.account.id):
        assert everything() == before
