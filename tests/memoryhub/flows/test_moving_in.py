"""Files of other systems, each in the shape that its documentation shows."""

import io
import json
import zipfile
from pathlib import Path
from typing import Any

import pytest

from memoryhub.common.errors import HubError
from memoryhub.common.times import format_time
from memoryhub.flows.importing import Report, import_file
from spaces.domain.kinds import Outcome
from spaces.models import Memory
from tests.conftest import Cast

pytestmark = pytest.mark.usefixtures("inside")

SAMPLES = Path(__file__).parent / "samples"
EVERY = [
    "memory.jsonl",
    "mem0.json",
    "openmemory.json",
    "zerodb.json",
    "CLAUDE.md",
    "rules.mdc",
    "chatgpt.txt",
    "basic-memory",
]


def content_of(name: str) -> bytes:
    path = SAMPLES / name
    if path.is_file():
        return path.read_bytes()
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        for found in sorted(path.rglob("*.*")):
            archive.write(found, found.relative_to(path).as_posix())
    return out.getvalue()


def moved_in(cast: Cast, name: str, **options: Any) -> Report:
    return import_file(cast.owner, io.BytesIO(content_of(name)), name=name, **options)


def told(**extra: str) -> list[tuple[Any, ...]]:
    names = ("text", "subject", "kind", *extra)
    return list(Memory.objects.order_by("created_at", "id").values_list(*names))


def left(report: Report) -> dict[str, int]:
    return {x.what: x.count for x in report.left_out}


def memory(text: str) -> Memory:
    return Memory.objects.get(text=text)


@pytest.mark.parametrize("name", EVERY)
def test_a_dry_run_tells_what_comes_and_a_second_import_adds_nothing(cast: Cast, name: str) -> None:
    rehearsed = moved_in(cast, name, dry_run=True)
    assert not Memory.objects.exists()
    done = moved_in(cast, name)
    assert done.counts == rehearsed.counts
    assert done.total(Outcome.NEW) == Memory.objects.count() > 0
    again = moved_in(cast, name)
    assert again.total() == again.total(Outcome.SAME) == done.total()


@pytest.mark.parametrize("name", EVERY)
def test_what_comes_is_trusted_as_from_outside(cast: Cast, name: str) -> None:
    moved_in(cast, name)
    assert set(Memory.objects.values_list("trust", flat=True)) == {"external"}


def test_a_graph_of_entities_and_relations(cast: Cast) -> None:
    report = moved_in(cast, "memory.jsonl")
    assert report.system == "MCP memory server"
    assert sorted(row[:2] for row in told()) == [
        ("Harbour (project)", "Harbour"),
        ("Lina_Okafor leads Harbour", "Lina_Okafor"),
        ("Prefers morning meetings", "Lina_Okafor"),
        ("Speaks Spanish and Igbo", "Lina_Okafor"),
    ]
    assert memory("Speaks Spanish and Igbo").topics == ["person"]
    assert memory("Lina_Okafor leads Harbour").links == [{"relation": "leads", "to": "Harbour"}]
    assert left(report) == {"lines of another type": 1}


def test_mem0(cast: Cast) -> None:
    report = moved_in(cast, "mem0.json")
    kept = memory("Lina takes her coffee without sugar")
    assert (kept.tags, kept.agent, kept.session) == (["food", "preferences"], "assistant", "run-7")
    assert kept.metadata == {"user_id": "lina", "type": "preference"}
    assert format_time(kept.created_at) == "2025-04-01T16:30:00Z"
    assert memory("lina works at harbour").links == [{"relation": "works_at", "to": "harbour"}]
    assert left(report) == {"memories that had expired there": 1, "statements without text": 1}


def test_openmemory(cast: Cast) -> None:
    report = moved_in(cast, "openmemory.json")
    kept = memory("Uses tabs in Go and spaces elsewhere")
    assert (kept.tags, kept.agent, kept.status) == (["work"], "cursor", "active")
    archived = memory("Works on the harbour project")
    assert (archived.status, archived.metadata["state"]) == ("superseded", "archived")
    assert left(report) == {
        "memories that were deleted there": 1,
        "user": 1,
        "status_history": 1,
        "export_meta": 1,
    }


def test_openmemorys_backup_is_a_zip_around_it(cast: Cast) -> None:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        archive.writestr("memories.json", content_of("openmemory.json"))
        archive.writestr("memories.jsonl.gz", b"x")
    report = import_file(cast.owner, out, name="memories_export_lina.zip")
    assert (report.system, report.total(Outcome.NEW)) == ("OpenMemory", 2)
    assert left(report)["memories.jsonl.gz"] == 1


def test_zerodb(cast: Cast) -> None:
    report = moved_in(cast, "zerodb.json")
    said = memory("Remind me that releases need two reviews")
    assert (said.origin, said.session, said.tags) == ("user", "s-1", ["release"])
    assert said.metadata == {"channel": "chat", "role": "user"}
    assert memory("The release branch is cut on Mondays").origin == "agent"
    assert left(report) == {"vectors": 1, "plans": 1}


def test_zerodb_a_line_each(cast: Cast) -> None:
    rows = json.loads(content_of("zerodb.json"))["memories"]
    lines = b"".join(json.dumps(row).encode() + b"\n" for row in rows)
    report = import_file(cast.owner, io.BytesIO(lines), name="dump.jsonl")
    assert (report.system, report.total(Outcome.NEW)) == ("ZeroDB", 2)


def test_rules_for_agents(cast: Cast) -> None:
    report = moved_in(cast, "CLAUDE.md")
    assert sorted(row[:2] for row in told()) == [
        ("Never push to main.", "Commands"),
        ("Prefer small functions.\nName them after what they do.", "Style"),
        ("Run `make check` before every commit.\n  It takes two minutes.", "Commands"),
        ("```python\n# this is no heading\ndef f() -> None: ...\n```", "Style"),
    ]
    rule = memory("Never push to main.")
    assert (rule.kind, rule.origin, rule.source_ref) == ("preference", "user", "CLAUDE.md:9")
    assert left(report) == {"imports of other files (CLAUDE.md)": 1}


def test_rules_with_front_matter(cast: Cast) -> None:
    moved_in(cast, "rules.mdc")
    rule = memory("Answer errors as JSON.")
    assert rule.metadata == {
        "description": "Rules for the API",
        "globs": ["src/api/**"],
        "alwaysApply": "false",
    }


def test_chatgpts_saved_memories(cast: Cast) -> None:
    report = moved_in(cast, "chatgpt.txt")
    assert {row[0] for row in told()} == {
        "Has a dog called Biscuit.",
        "Prefers answers in British English.",
        "User is learning to sail.",
    }
    assert memory("User is learning to sail.").created_at.date().isoformat() == "2025-04-09"
    assert memory("Has a dog called Biscuit.").agent == "ChatGPT"
    assert left(report) == {"statements that the file repeats": 1}


def test_notes_of_basic_memory(cast: Cast) -> None:
    report = moved_in(cast, "basic-memory")
    decision = memory("Payments go through one provider #payments")
    assert (decision.kind, decision.subject, decision.path) == ("decision", "Harbour", "projects/harbour")
    assert (decision.tags, decision.topics) == (["work", "boats", "payments"], ["decision"])
    assert decision.created_at.date().isoformat() == "2025-03-04"
    assert memory("Harbour part of Coast Platform").links == [{"relation": "part_of", "to": "Coast Platform"}]
    assert memory("Harbour led by Lina Okafor (since spring)").subject == "Harbour"
    note = memory("The system that books berths.")
    assert (note.kind, note.metadata) == ("note", {"type": "project", "status": "active"})
    assert memory("Just a thought without any structure.").subject == "inbox"
    assert left(report) == {"photo.png": 1}


def test_what_is_too_long_for_its_field_is_kept_beside_it(cast: Cast) -> None:
    row = {"memory": "Tea", "categories": ["x" * 80, *(str(n) for n in range(25))], "agent_id": "a" * 300}
    import_file(cast.owner, io.BytesIO(json.dumps([row]).encode()), name="mem0.json")
    kept = memory("Tea")
    assert len(kept.tags) == 20
    assert len(kept.metadata["tags"]) == 6
    assert kept.metadata["agent"] == "a" * 300


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("x.json", b"{", "x.json"),
        ("x.json", b'{"a": 1}', "no file of a system that is known"),
        ("x.json", b"[]", "no file of a system that is known"),
        ("x.jsonl", b'{"type": "entity", "name": "a"}\n{oops\n', "x.jsonl line 2"),
        ("x.md", b"caf\xe9", "x.md line 1"),
        ("x.txt", b"a\nb\xff", "x.txt line 2"),
        ("x.json", b'[{"memory": "a\\u0000b"}]', "x.json line 1"),
        ("x.txt", b"x" * 50_001, "x.txt line 1: text"),
        ("x.zip", b"PK\x03\x04 and then nothing", "cut off"),
        ("x.bin", b"\x00\x01\x02", "x.bin"),
    ],
)
def test_a_file_that_can_not_be_read_changes_nothing_and_is_named(
    cast: Cast, name: str, content: bytes, said: str
) -> None:
    with pytest.raises(HubError) as refused:
        import_file(cast.owner, io.BytesIO(content), name=name)
    assert said in refused.value.message
    assert not Memory.objects.exists()
