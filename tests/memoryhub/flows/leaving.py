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
from memoryhub.common.ids import parse_id
from memoryhub.flows.export import open_export, stream_export
from memoryhub.flows.importing import Report, import_file
from spaces.domain import plans
from spaces.domain.arriving import WRITER
from spaces.domain.journal import Log, write_journal
from spaces.domain.kinds import Arrival, all_kinds
from spaces.domain.memories import edit_memory, remember
from spaces.domain.records import Changes, put_record
from spaces.domain.values import delete_value, set_value
from spaces.models import Memory, Space
from spaces.models.memories import KINDS, TIERS

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

    said = {**row, "id": id(row["id"]), "written_by": WRITER + row["written_by"].removeprefix(WRITER)}
    for pointer in ("superseded_by", "resolved_by"):
        if pointer in said:
            said[pointer] = id(said[pointer])
    if "trust" in said:
        said["trust"] = "external"
    if "versions" in said:
        said["versions"] = [_moved_version(version) for version in said["versions"]]
    return said


def _moved_version(version: dict[str, Any]) -> dict[str, Any]:
    trust = {"trust": "external"} if "trust" in version else {}
    return {**version, "written_by": WRITER + version["written_by"].removeprefix(WRITER), **trust}
