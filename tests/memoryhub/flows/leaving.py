"""Spaces of every kind of thing with every field set, and what their exports become elsewhere."""

import io
import json
import string
import zipfile
from datetime import UTC, date, datetime, timedelta
from typing import Any

from django.utils import timezone
from hypothesis import strategies as st

from accounts.actor import Actor
from memoryhub.common.ids import parse_id, typed_id
from memoryhub.flows.export import open_export, stream_export
from memoryhub.flows.importing import Report, import_file
from spaces.domain import ledger, plans
from spaces.domain.arriving import WRITER
from spaces.domain.capture import Said as CaptureSaid
from spaces.domain.capture import capture
from spaces.domain.journal import Log, write_journal
from spaces.domain.kinds import Arrival, all_kinds
from spaces.domain.memories import edit_memory, remember
from spaces.domain.records import Changes, put_record
from spaces.domain.summaries import Item, Said, record_summary
from spaces.domain.values import delete_value, set_value
from spaces.models import Capture, DreamChange, DreamRun, Memory, Space, dreams
from spaces.models.ledger import TYPES
from spaces.models.memories import KINDS, TIERS
from spaces.models.summaries import TRIGGERS

ODD = st.sampled_from(
    ["🌱", "שלום", "=1+1", "@SUM(A1)", "line\nline", "周报", "\u2028", "e\u0301", '"', "\\"]
)
PLAIN = st.text(string.ascii_letters + string.digits + " -.", min_size=1, max_size=30)
TEXT = (
    st.lists(ODD | PLAIN, min_size=1, max_size=3).map(" ".join).filter(lambda t: t.strip(" -.\n\u2028\u202e"))
)
LABEL = st.text(string.ascii_lowercase + "é周", min_size=1, max_size=12)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.floats(-1e9, 1e9, allow_nan=False) | TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(LABEL, inner, max_size=3),
    max_leaves=6,
)
MOMENT = st.datetimes(datetime(2020, 1, 1), datetime(2026, 1, 1)).map(lambda at: at.replace(tzinfo=UTC))  # noqa: DTZ001
LATER = st.none() | st.integers(1, 900).map(lambda days: timezone.now() + timedelta(days=days))

MEMORY = st.fixed_dictionaries(
    {
        "text": TEXT,
        "kind": st.sampled_from(KINDS),
        "tier": st.sampled_from(TIERS),
        "subject": LABEL | st.just(""),
        "topics": st.lists(LABEL, max_size=3),
        "tags": st.lists(LABEL, max_size=3),
        "path": st.sampled_from(["", "notes/a", "B.c/d-e"]),
        "source_ref": TEXT.map(str.strip),
        "links": st.lists(st.dictionaries(LABEL, TEXT, max_size=2), max_size=2),
        "metadata": st.dictionaries(LABEL, JSON, max_size=3),
        "importance": st.floats(0, 1),
        "pinned": st.booleans(),
        "origin": st.sampled_from(["user", "agent"]),
        "decided_by": LABEL | st.just(""),
        "agent": LABEL | st.just(""),
        "session": LABEL,
        "session_scoped": st.booleans(),
    }
)
STATES = st.fixed_dictionaries(
    {
        "occurred_at": MOMENT,
        "created_at": MOMENT,
        "updated_at": MOMENT,
        "last_seen_at": MOMENT,
        "last_recalled_at": st.none() | MOMENT,
        "expires_at": LATER,
        "recall_count": st.integers(0, 99),
        "seen_count": st.integers(1, 99),
        "agent_instance": LABEL,
        "device_label": LABEL,
        "redactions": st.lists(st.fixed_dictionaries({"category": LABEL}), max_size=2),
        "trust": st.sampled_from(["agent", "person", "reviewed", "external"]),
    }
)
RECORD = st.fixed_dictionaries(
    {
        "status": st.sampled_from(["open", "done", "in_review"]),
        "due_at": st.sampled_from(["", "2026-08-08", "2026-08-08T14:30:00.5Z"]),
        "data": st.dictionaries(LABEL, JSON, max_size=3),
        "origin": st.sampled_from(["user", "agent"]),
    }
)
LOG = st.builds(
    Log,
    summary=TEXT,
    decisions=st.lists(TEXT, max_size=2),
    open_loops=st.lists(TEXT, max_size=2),
    source_refs=st.lists(TEXT, max_size=2),
)
PLAN = st.fixed_dictionaries(
    {
        "title": TEXT.map(lambda t: t[:40]).filter(str.strip),
        "content": TEXT,
        "tags": st.lists(LABEL, max_size=2),
        "metadata": st.dictionaries(LABEL, JSON, max_size=2),
        "type": st.sampled_from(["plan", "prd", "task"]),
        "status": st.sampled_from(["draft", "active", "completed"]),
    }
)
SUMMARY = st.fixed_dictionaries(
    {
        "text": TEXT,
        "agent": LABEL | st.just(""),
        "session": LABEL | st.just(""),
        "trigger": st.sampled_from(TRIGGERS),
        "items": st.lists(st.tuples(st.sampled_from(KINDS), LABEL), max_size=3),
    }
)
ENTRY = st.fixed_dictionaries(
    {
        "type": st.sampled_from(TYPES),
        "item": LABEL,
        "amount": st.integers(1, 10**12).map(lambda n: f"{n / 10**4:.4f}"),
        "currency": st.sampled_from(["EUR", "JPY", "KWD"]),
        "date": st.dates(date(2020, 1, 1), date(2026, 1, 1)).map(date.isoformat),
        "category": LABEL | st.just(""),
        "merchant": LABEL | st.just(""),
        "payment_method": LABEL | st.just(""),
        "note": TEXT | st.just(""),
        "path": st.sampled_from(["", "trips/a-b"]),
    }
)
REMINDER = st.fixed_dictionaries(
    {
        "content": TEXT,
        "due_at": st.sampled_from(["2026-08-08", "2026-08-08T14:30:00.5Z"]),
        "recurrence": st.sampled_from(["", "weekly", "FREQ=MONTHLY;COUNT=3"]),
        "path": st.sampled_from(["", "trips/a-b"]),
    }
)
RUN = st.fixed_dictionaries(
    {
        "kind": st.sampled_from(dreams.KINDS),
        "thinker": st.sampled_from(dreams.THINKERS),
        "status": st.sampled_from((*dreams.FINISHED, "expired")),
        "review": st.booleans(),
        "max_changes": st.integers(1, 99),
        "notes": TEXT | st.just(""),
        "trouble": LABEL | st.just(""),
        "model": LABEL | st.just(""),
        "tokens_in": st.none() | st.integers(0, 9999),
        "tokens_out": st.none() | st.integers(0, 9999),
        "think_ms": st.none() | st.integers(0, 9999),
        "started_by": st.just("key:somebody"),
        "submitted_by": st.sampled_from(["", "key:somebody"]),
        "decided_by": st.sampled_from(["", "person:somebody"]),
        "undone_by": st.sampled_from(["", "person:somebody"]),
        "version": st.integers(1, 9),
        "created_at": MOMENT,
        "expires_at": st.none() | MOMENT,
        "submitted_at": st.none() | MOMENT,
        "finished_at": MOMENT,
        "undone_at": st.none() | MOMENT,
    }
)
CHANGE = st.fixed_dictionaries(
    {
        "op": st.sampled_from(dreams.OPS),
        "proposal": st.dictionaries(LABEL, JSON, max_size=3),
        "state": st.sampled_from(dreams.STATES),
        "code": LABEL,
        "note": LABEL,
    }
)
WRITERS = {"run": ("started_by", "submitted_by", "decided_by", "undone_by"), "txn": ("voided_by",)}
SPACE = st.fixed_dictionaries(
    {
        "memories": st.lists(st.tuples(MEMORY, STATES, st.booleans()), max_size=5),
        "ending": st.lists(
            st.tuples(st.integers(0, 4), st.integers(0, 4), st.sampled_from(["superseded", "resolved"])),
            max_size=3,
        ),
        "records": st.lists(st.tuples(LABEL | st.just(""), RECORD, RECORD), max_size=4),
        "journal": st.lists(
            st.tuples(st.integers(0, 30), st.sampled_from(["day", "week"]), LOG, LOG), max_size=4
        ),
        "plans": st.lists(st.tuples(PLAN, st.lists(PLAN, max_size=2)), max_size=2),
        "values": st.lists(st.tuples(LABEL, JSON, JSON, st.booleans()), max_size=4),
        "summaries": st.lists(SUMMARY, max_size=3),
        "transactions": st.lists(st.tuples(ENTRY, st.booleans()), max_size=3),
        "reminders": st.lists(st.tuples(REMINDER, st.integers(0, 3)), max_size=3),
        "captures": st.lists(st.tuples(LABEL, st.sampled_from(["waiting", "dropped"])), max_size=3),
        "runs": st.lists(st.tuples(RUN, st.lists(CHANGE, max_size=2)), max_size=2),
    }
)


def fill(actor: Actor, space: Space, drawn: dict[str, Any]) -> None:
    """Through the ordinary writes, and then what only time and others would set."""
    here = actor.in_space(space.slug)
    memories = [_memory(here, *one) for one in drawn["memories"]]
    for number, (a, b, status) in enumerate(drawn["ending"]):
        if memories and a % len(memories) < b % len(memories):
            _end(memories[a % len(memories)], memories[b % len(memories)], status, number)
    for key, first, second in drawn["records"]:
        for said in (first, second):
            put_record(here, "tasks", Changes(**said), key=key)
    for days, kind, first, second in drawn["journal"]:
        for said in (first, second):
            write_journal(here, date(2026, 3, 1) - timedelta(days=days), said, kind=kind)
    for first, later in drawn["plans"]:
        more = {name: first[name] for name in ("tags", "metadata", "type", "status")}
        plan = plans.create_plan(here, first["title"], first["content"], plans.Changes(**more))
        for said in later:
            plans.update_plan(here, plan.id, plans.Changes(**said))
    for key, first, second, gone in drawn["values"]:
        for value in (first, second):
            set_value(here, "prefs", key, value)
        if gone:
            delete_value(here, "prefs", key)
    for said in drawn["summaries"]:
        _summary(here, space, said)
    for entry, voided in drawn["transactions"]:
        row = ledger.record_transaction(here, ledger.Entry(**entry)).transaction
        if voided:
            ledger.void_transaction(here, typed_id("txn", row.id))
    for said, times in drawn["reminders"]:
        reminder = ledger.set_reminder(here, said.pop("content"), said.pop("due_at"), **said).reminder
        for _ in range(times):
            ledger.complete_reminder(here, typed_id("rmd", reminder.id))
    _captures(here, space, drawn["captures"])
    for run, changes in drawn["runs"]:
        _run(space, memories, run, changes)


def _summary(actor: Actor, space: Space, said: dict[str, Any]) -> None:
    items = [
        Item({"text": f"Item {n} {text}", "kind": kind}) for n, (kind, text) in enumerate(said.pop("items"))
    ]
    record_summary(actor, Said(**said, items=items), space=space.slug)


def _captures(actor: Actor, space: Space, drawn: list[tuple[str, str]]) -> None:
    Space.objects.filter(id=space.id).update(capture_mode="review")
    for number, (text, state) in enumerate(drawn):
        said = CaptureSaid("user", f"Remember that we always {text} the {text} first.")
        waiting = capture(actor, [said], agent="scribe", session=f"s{number}").outcomes[0].capture
        if waiting and state == "dropped":
            Capture.objects.filter(id=waiting.id).update(state="dropped", text="")


def _run(space: Space, memories: list[Memory], said: dict[str, Any], changes: list[dict[str, Any]]) -> None:
    ids = [memory.id for memory in memories]
    conflicts = [{"id": typed_id("mem", id), "code": "edited", "reason": "Edited."} for id in ids[:1]]
    run = DreamRun.objects.create(account_id=space.account_id, space=space, conflicts=conflicts, **said)
    for number, change in enumerate(changes):
        made = ids[-1] if ids and number else None
        DreamChange.objects.create(
            account_id=space.account_id, run=run, number=number, memories=ids[:2], made=made, **change
        )


def _memory(actor: Actor, said: dict[str, Any], state: dict[str, Any], edited: bool) -> Memory:
    memory = remember(actor, **said).memory
    if edited:
        edit_memory(actor, memory.id, text=f"{said['text']} and more")
    Memory.objects.filter(id=memory.id).update(**state)
    return memory


def _end(memory: Memory, by: Memory, status: str, number: int) -> None:
    pointer = "superseded_by" if status == "superseded" else "resolved_by"
    Memory.objects.filter(id=memory.id).update(status=status, **{pointer: by})


def exported(actor: Actor, space: Space | str) -> bytes:
    ref = space if isinstance(space, str) else space.slug
    return b"".join(stream_export(open_export(actor, ref)))


def imported(actor: Actor, content: bytes, space: Space, **options: Any) -> Report:
    return import_file(actor, io.BytesIO(content), space=space.id, **options)


def rows_in(content: bytes) -> dict[str, list[dict[str, Any]]]:
    """Kind's file → its rows by id; without those that tell what happened in one place only."""
    archive = zipfile.ZipFile(io.BytesIO(content))
    files = [kind.file for kind in all_kinds() if kind.arrive]
    lines = {file: [json.loads(line) for line in archive.read(file).splitlines()] for file in files}
    return {file: sorted(rows, key=lambda row: row["id"]) for file, rows in lines.items()}


def moved(
    rows: dict[str, list[dict[str, Any]]], actor: Actor, space: Space
) -> dict[str, list[dict[str, Any]]]:
    """What is documented to change with an import, and nothing else."""
    arrival = Arrival(actor, space, timezone.now())
    changed = {file: [_moved(row, arrival) for row in found] for file, found in rows.items()}
    return {file: sorted(found, key=lambda row: row["id"]) for file, found in changed.items()}


def _moved(row: dict[str, Any], arrival: Arrival) -> dict[str, Any]:
    def id(text: Any) -> Any:
        if not text:
            return text
        prefix = text.partition("_")[0]
        return f"{prefix}_{arrival.id(parse_id(prefix, text)).hex}"

    said = {**row, "id": id(row["id"])}
    writers = WRITERS.get(row["id"].partition("_")[0], ())
    for writer in ("written_by", *writers):
        if said.get(writer):
            said[writer] = WRITER + said[writer].removeprefix(WRITER)
    for pointer in ("superseded_by", "resolved_by"):
        if pointer in said:
            said[pointer] = id(said[pointer])
    if "memories" in said:
        said["memories"] = [id(memory) for memory in said["memories"]]
    if "changes" in said:
        said["changes"] = [
            {**c, "ids": [id(memory) for memory in c["ids"]], "new_id": id(c["new_id"])}
            for c in said["changes"]
        ]
        said["conflicts"] = [{**left, "id": id(left["id"])} for left in said["conflicts"]]
    if "trust" in said:
        said["trust"] = "external"
    if "versions" in said:
        said["versions"] = [_moved_version(version) for version in said["versions"]]
    return said


def _moved_version(version: dict[str, Any]) -> dict[str, Any]:
    trust = {"trust": "external"} if "trust" in version else {}
    return {**version, "written_by": WRITER + version["written_by"].removeprefix(WRITER), **trust}


def differing(
    found: dict[str, list[dict[str, Any]]], expected: dict[str, list[dict[str, Any]]]
) -> list[tuple[str, Any, Any]]:
    """The fields in which they differ, or the ids."""
    ids = [(file, [r["id"] for r in found[file]], [r["id"] for r in rows]) for file, rows in expected.items()]
    if wrong := [(file, ours, theirs) for file, ours, theirs in ids if ours != theirs]:
        return wrong
    pairs = [(f, a, b) for f, rows in expected.items() for a, b in zip(found[f], rows, strict=True)]
    return [
        (f"{f}:{name}", a.get(name), b.get(name))
        for f, a, b in pairs
        for name in {**a, **b}
        if a.get(name) != b.get(name)
    ]
