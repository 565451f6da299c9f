"""Summaries, the ledger, captures and dreams out of one space and into another."""

import io
import json
import zipfile
from datetime import UTC, datetime
from typing import Any

import pytest
from django.apps import apps

from memoryhub.common.errors import ValidationFailed
from memoryhub.common.ids import new_id, typed_id
from spaces.domain import ledger
from spaces.domain.capture import Said as CaptureSaid
from spaces.domain.capture import capture, drop_captures
from spaces.domain.dreams.undoing import undo
from spaces.domain.journal import Log, write_journal
from spaces.domain.kinds import Kind, Outcome, kinds_with_files
from spaces.domain.memories import remember
from spaces.domain.plans import create_plan
from spaces.domain.records import Changes, put_record
from spaces.domain.spaces import create_space
from spaces.domain.summaries import Item, Said, record_summary
from spaces.domain.values import set_value
from spaces.models import Capture, DreamChange, DreamRun, Memory, Reminder, Space, Summary, Transaction
from tests.actions.notices_stage import hook
from tests.actions.stage import propose
from tests.conftest import Cast
from tests.memoryhub.flows.leaving import exported, imported
from tests.memoryhub.flows.test_importing import counts, file_with

pytestmark = pytest.mark.usefixtures("inside")
AT = datetime(2026, 3, 2, 12, tzinfo=UTC)
REMINDER = f"rmd_{7:032x}"
ENTRY = ledger.Entry(type="expense", item="Rope", amount="12.5", currency="EUR", date="2026-03-01")

# Of each kind's model, what is made again, follows from the rest, or means nothing elsewhere.
NOT_TOLD = {
    "mem": {"identity", "search_vector", "search_weights", "search_version"},
    "sum": {"digest"},
    "cap": {"fold_hash", "state", "memory", "decided_by", "decided_at"},
    "run": {"input", "reached", "tries", "answer_digest", "undo_until"},
    "act": {"content"},
    "whk": {"sealed", "former_until", "failing_since", "rests_until"},
}
CALLED = {
    "due_on": "due_at",
    "number": "id",
    "class_name": "class",
    "object_type": "object",
    "object_id": "object",
    "space_id": "id",  # of an event: the export is that space's
}


@pytest.fixture
def elsewhere(cast: Cast) -> Space:
    return create_space(cast.owner, name="Elsewhere")


def rows(content: bytes, file: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in zipfile.ZipFile(io.BytesIO(content)).read(file).splitlines()]


def a_run(cast: Cast, **fields: Any) -> DreamRun:
    said = {
        "thinker": "client",
        "status": "applied",
        "started_by": "key:x",
        "created_at": AT,
        "finished_at": AT,
    }
    return DreamRun.objects.create(account_id=cast.account.id, space=cast.space, **{**said, **fields})


def test_a_summary_arrives_with_the_memories_that_it_recorded_in_their_order(
    cast: Cast, elsewhere: Space
) -> None:
    said = Said("We chose ropes.", [Item({"text": text}) for text in ("Ropes", "Knots", "Anchors")])
    record_summary(cast.agent, said, space=cast.space.slug)
    imported(cast.owner, exported(cast.owner, "main"), elsewhere)
    [summary] = Summary.objects.filter(space=elsewhere)
    items = summary.items.order_by("position").select_related("memory")
    assert [item.memory.text for item in items] == ["Ropes", "Knots", "Anchors"]
    assert {item.memory.space_id for item in items} == {elsewhere.id}


def test_what_a_summary_recorded_and_is_in_no_file_is_noted(cast: Cast, elsewhere: Space) -> None:
    row = {"text": "We chose ropes.", "memories": [typed_id("mem", new_id())]}
    report = imported(cast.owner, file_with(cast, summaries=[row]), elsewhere)
    assert [(left.what, left.count) for left in report.left_out if "links" in left.what] == [
        ("links to memories that are not in the file", 1)
    ]


def test_a_transaction_that_was_voided_since_is_voided_here_too(cast: Cast, elsewhere: Space) -> None:
    row = ledger.record_transaction(cast.agent, ENTRY).transaction
    imported(cast.owner, exported(cast.owner, "main"), elsewhere)
    ledger.void_transaction(cast.agent, typed_id("txn", row.id))
    report = imported(cast.owner, exported(cast.owner, "main"), elsewhere)
    assert counts(report)["transaction"] == {Outcome.CHANGED: 1}
    there = Transaction.objects.get(space=elsewhere)
    assert (there.voided_by, there.written_by) == (f"import:{cast.agent.key}", f"import:{cast.agent.key}")
    assert imported(cast.owner, exported(cast.owner, "main"), elsewhere).total(Outcome.SAME) == 1


def test_a_reminder_goes_on_where_it_was(cast: Cast, elsewhere: Space) -> None:
    reminder = ledger.set_reminder(
        cast.agent, "Check the ropes", "2026-03-02", recurrence="FREQ=WEEKLY;COUNT=3"
    ).reminder
    ledger.complete_reminder(cast.agent, typed_id("rmd", reminder.id))
    imported(cast.owner, exported(cast.owner, "main"), elsewhere)
    there = Reminder.objects.get(space=elsewhere)
    assert (ledger.due_text(there), there.completions) == ("2026-03-09", 1)
    for _ in range(2):
        there = ledger.complete_reminder(cast.owner.in_space(elsewhere.slug), typed_id("rmd", there.id))
    assert there.completed_at is not None


@pytest.mark.parametrize(
    ("file", "row", "field"),
    [
        ("ledger", {"type": "expense", "item": "x", "amount": "0", "currency": "EUR"}, "amount"),
        ("ledger", {"type": "gift", "item": "x", "amount": "1", "currency": "EUR"}, "type"),
        (
            "ledger",
            {"id": f"rmd_{7:032x}", "content": "x", "due_at": "2026-03-02", "recurrence": "FREQ=NEVER"},
            "recur",
        ),
        ("ledger", {"id": f"rmd_{7:032x}", "content": "x"}, "due_at"),
        ("summaries", {"text": "x" * 8_001}, "text"),
        ("summaries", {"text": "x", "memories": [7]}, "memories"),
        ("captures", {"text": "\u200b"}, "text"),
        ("captures", {"text": "x" * 501}, "text"),
        ("dreams", {"changes": [{"op": "burn"}]}, "op"),
        ("dreams", {"changes": [{"index": 1}, {"index": 1}]}, "index"),
        ("dreams", {"status": "running"}, "status"),
    ],
)
def test_a_wrong_line_is_named(
    cast: Cast, elsewhere: Space, file: str, row: dict[str, Any], field: str
) -> None:
    with pytest.raises(ValidationFailed) as refused:
        imported(cast.owner, file_with(cast, **{file: [row]}), elsewhere)
    assert f"{file}.jsonl line 1" in refused.value.message
    assert field in refused.value.message


def test_what_was_dropped_here_is_not_asked_again(cast: Cast, elsewhere: Space) -> None:
    for space in (cast.space, elsewhere):
        Space.objects.filter(id=space.id).update(capture_mode="review")
    [outcome] = capture(
        cast.agent, [CaptureSaid("user", "Remember that we always check the ropes.")]
    ).outcomes
    assert outcome.capture
    content = exported(cast.owner, "main")
    imported(cast.owner, content, elsewhere)
    here = Capture.objects.get(space=elsewhere)
    assert (here.text, here.state) == (outcome.capture.text, "waiting")
    drop_captures(cast.owner.in_space(elsewhere.slug), [typed_id("cap", here.id)])
    report = imported(cast.owner, content, elsewhere)
    assert counts(report) == {"capture": {Outcome.SAME: 1}}
    assert Capture.objects.get(space=elsewhere).text == ""


def test_a_dream_arrives_as_what_happened_and_can_not_be_undone(cast: Cast, elsewhere: Space) -> None:
    memory = remember(cast.agent, text="Ropes").memory
    run = a_run(cast, undo_until=datetime(2099, 1, 1, tzinfo=UTC))
    DreamChange.objects.create(
        account_id=cast.account.id, run=run, number=0, op="retier", memories=[memory.id], state="applied"
    )
    imported(cast.owner, exported(cast.owner, "main"), elsewhere)
    there = DreamRun.objects.get(space=elsewhere)
    [change] = there.changes.all()
    assert change.memories == [Memory.objects.get(space=elsewhere).id]
    with pytest.raises(Exception, match="Only a run that was applied can be undone"):
        undo(cast.owner.in_space(elsewhere.slug), there.id)


def test_a_dream_under_way_arrives_as_expired_and_goes_on_where_it_is(cast: Cast, elsewhere: Space) -> None:
    run = a_run(cast, status="review", finished_at=None)
    content = exported(cast.owner, "main")
    imported(cast.owner, content, elsewhere)
    assert DreamRun.objects.get(space=elsewhere).status == "expired"
    assert counts(imported(cast.owner, content, cast.space)) == {"run": {Outcome.SAME: 1}}
    run.refresh_from_db()
    assert run.status == "review"


def test_every_field_of_every_kind_leaves_or_is_named_as_what_does_not(cast: Cast) -> None:
    """So that a column that is added later is not forgotten."""
    Space.objects.filter(id=cast.space.id).update(capture_mode="review")
    set_value(cast.agent, "prefs", "tone", "calm")
    put_record(cast.agent, "tasks", Changes(data={}), key="a")
    write_journal(cast.agent, AT.date(), Log(summary="Ropes."))
    create_plan(cast.agent, "Ropes", "Check them.")
    remember(cast.agent, text="Ropes")
    a_run(cast)
    propose(cast.agent)
    hook(cast, space=cast.space.slug)
    ledger.record_transaction(cast.agent, ENTRY)
    record_summary(cast.agent, Said("Ropes."), space=cast.space.slug)
    capture(cast.agent, [CaptureSaid("user", "Remember that we always check the knots.")])
    content = exported(cast.owner, "main")
    missing = {kind.prefix: _missing(kind, rows(content, kind.file)) for kind in kinds_with_files()}
    assert {prefix: names for prefix, names in missing.items() if names} == {}


def _missing(kind: Kind, told: list[dict[str, Any]]) -> set[str]:
    fields = {field.name for field in apps.get_model(kind.model_label)._meta.concrete_fields}
    assert told, kind.name
    left = fields - NOT_TOLD.get(kind.prefix, set()) - {"account", "space"}
    return {name for name in left if CALLED.get(name, name) not in told[-1]}
