"""What leaves in an export, and who may take it."""

import hashlib
import io
import json
import zipfile
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from typing import Any

import pytest
import time_machine

from accounts.actor import Actor, system_actor
from accounts.domain.credentials import authenticate
from accounts.domain.keys import create_key
from accounts.models import AgentKey, Event
from accounts.scopes import Role, Scope
from memoryhub.common.errors import Forbidden, NotFound
from memoryhub.common.ids import new_id, typed_id
from memoryhub.common.tenancy import tenant
from memoryhub.flows.export import earlier_exports, open_export, stream_export
from memoryhub.flows.importing import require_import
from spaces.domain.journal import Log, write_journal
from spaces.domain.kinds import kinds_with_files
from spaces.domain.memories import edit_memory, remember
from spaces.domain.records import Changes, put_record
from spaces.domain.spaces import create_space
from spaces.domain.summaries import Item, Said, record_summary
from spaces.domain.values import set_value
from spaces.models import Memory
from tests.actions.stage import propose
from tests.conftest import Cast

pytestmark = pytest.mark.usefixtures("inside")

NOW = datetime(2026, 3, 2, 12, tzinfo=UTC)


def taken(actor: Actor, space: str | None = None, **options: Any) -> zipfile.ZipFile:
    content = b"".join(stream_export(open_export(actor, space, **options)))
    return zipfile.ZipFile(io.BytesIO(content))


def rows(archive: zipfile.ZipFile, path: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in archive.read(path).splitlines()]


def manifest(archive: zipfile.ZipFile) -> dict[str, Any]:
    return dict(json.loads(archive.read("manifest.json")))


def fill(cast: Cast) -> None:
    memory = remember(cast.agent, text="Deploys go out on Tuesdays", tags=["ops"], subject="deploys").memory
    edit_memory(cast.agent, memory.id, text="Deploys go out on Thursdays")
    remember(cast.agent, text="For everybody", account_wide=True)
    put_record(cast.agent, "tasks", Changes(due_at="2026-08-08", data={"n": 1}), key="a")
    write_journal(cast.agent, date(2026, 3, 1), Log("Quiet 🌱", decisions=["Wait"]))
    set_value(cast.agent, "prefs", "tone", None)
    propose(cast.agent, summary="Write to Ana")


def test_an_export_holds_a_file_for_every_kind_and_says_what_is_in_each(cast: Cast) -> None:
    fill(cast)
    archive = taken(cast.owner)
    files = {file["path"]: file for file in manifest(archive)["files"]}
    assert list(files) == [kind.file for kind in kinds_with_files()]
    assert archive.namelist() == [*files, "memory.md", "manifest.json"]
    for path, file in files.items():
        content = archive.read(path)
        assert (file["rows"], file["bytes"], file["sha256"]) == (
            len(content.splitlines()),
            len(content),
            hashlib.sha256(content).hexdigest(),
        )
    counts = {path: files[path]["rows"] for path in files if path != "events.jsonl"}
    expected = ("memories", "journal", "records", "values", "actions")
    assert {path: count for path, count in counts.items() if count} == {f"{n}.jsonl": 1 for n in expected}


def test_the_files_are_named_as_they_are_documented() -> None:
    files = [kind.file.removesuffix(".jsonl") for kind in kinds_with_files()]
    assert {"memories", "journal", "records", "values", "actions", "events"} <= set(files)
    assert len(set(files)) == len(files)


def test_an_account_leaves_with_each_space_in_a_folder(cast: Cast) -> None:
    fill(cast)
    create_space(cast.owner, name="Other", visibility="members")
    archive = taken(cast.owner, whole_account=True)
    assert [space["folder"] for space in manifest(archive)["spaces"]] == ["spaces/main/", "spaces/other/"]
    assert [row["text"] for row in rows(archive, "account/memories.jsonl")] == ["For everybody"]
    assert len(rows(archive, "spaces/main/memories.jsonl")) == 1
    assert rows(archive, "spaces/other/records.jsonl") == []


def test_people_read_what_is_remembered_without_links_pictures_or_markup(cast: Cast) -> None:
    fill(cast)
    remember(cast.owner, text="See ![x](https://evil.example/?leak) <img src=x>\u202e")
    prose = taken(cast.owner).read("memory.md").decode()
    assert prose.startswith(
        "# Acme\n\n## Memories\n\n* **fact · deploys**: Deploys go out on Thursdays. tags: ops\n"
    )
    assert "## Journal\n\n* **day · 2026-03-01**: Quiet 🌱. decisions: Wait\n" in prose
    assert "## Values\n\n* **prefs · tone**" in prose
    assert "![" not in prose
    assert "\\<img" in prose
    assert "\u202e" not in prose


def test_a_sentence_that_ends_gets_no_second_end_before_its_tags(cast: Cast) -> None:
    for text in ("Tea is at four.", "Is tea at four?", "お茶は四時です。", "Coffee is at five"):
        remember(cast.owner, text=text, tags=["tea"])
    prose = taken(cast.owner).read("memory.md").decode()
    for told in ("at four. tags: tea", "at four? tags: tea", "四時です。 tags: tea", "at five. tags: tea"):
        assert told in prose
    assert ".. " not in prose


def test_what_has_expired_or_waits_in_quarantine_does_not_leave_with_an_agent(cast: Cast) -> None:
    with time_machine.travel(NOW, tick=False) as clock:
        gone = remember(cast.agent, text="Short", expires_at="2026-03-02T13:00:00Z").memory
        pointing = remember(cast.agent, text="Superseded by it").memory
        Memory.objects.filter(id=pointing.id).update(status="superseded", superseded_by=gone)
        held = remember(cast.agent, text="Held").memory
        Memory.objects.filter(id=held.id).update(status="quarantined")
        clock.shift(timedelta(hours=2))
        agent = replace(cast.agent, role=cast.owner.role)
        left = rows(taken(agent), "memories.jsonl")
        assert [(row["text"], row["superseded_by"]) for row in left] == [("Superseded by it", None)]
        people = taken(cast.owner)
        assert [row["text"] for row in rows(people, "memories.jsonl")] == ["Superseded by it", "Held"]
        assert "Held" not in people.read("memory.md").decode()


def test_a_summary_leaves_without_those_of_its_memories_that_stay(cast: Cast) -> None:
    with tenant(cast.account.id):
        items = [Item({"kind": "fact", "text": text}) for text in ("Said", "Over", "Held")]
        record_summary(cast.agent, Said("Who sat where", items), space="main")
    ids = {memory.text: typed_id("mem", memory.id) for memory in Memory.objects.all()}
    Memory.objects.filter(text="Over").update(expires_at=datetime(2026, 3, 1, tzinfo=UTC))
    Memory.objects.filter(text="Held").update(status="quarantined")
    agent = replace(cast.agent, role=cast.owner.role)
    for actor, texts in ((agent, ["Said"]), (cast.owner, ["Said", "Held"])):
        (left,) = rows(taken(actor), "summaries.jsonl")
        assert left["memories"] == [ids[text] for text in texts]


def test_no_secret_of_a_key_is_in_it(cast: Cast) -> None:
    fill(cast)
    archive = taken(cast.owner, whole_account=True)
    everything = b"".join(archive.read(name) for name in archive.namelist())
    for key in AgentKey.objects.filter(account=cast.account):
        assert key.hint.encode() not in everything or key.prefix.encode() not in everything
        assert bytes(key.secret_hash).hex().encode() not in everything
    for word in (b"secret_hash", b"search_vector", b"embedding", b"token_hash", b'identity"'):
        assert word not in everything


@pytest.mark.parametrize("who", ["approver", "teammate", "viewer"])
def test_only_owners_and_admins_export(cast: Cast, who: str) -> None:
    for actor in (cast.owner, cast.admin):
        assert taken(actor).namelist()
    with pytest.raises(Forbidden):
        open_export(getattr(cast, who))
    with pytest.raises(Forbidden):
        open_export(getattr(cast, who), whole_account=True)


def test_a_key_needs_the_scope_and_its_maker_the_role(cast: Cast) -> None:
    makers = replace(cast.agent, role=cast.owner.role)
    assert taken(makers).namelist()
    with pytest.raises(Forbidden) as refused:
        open_export(replace(makers, scopes=frozenset(Scope) - {Scope.EXPORT_READ}))
    assert refused.value.details == {"missing_scopes": ["export:read"]}
    with pytest.raises(Forbidden):
        open_export(cast.agent)


def test_a_key_of_the_operators_has_a_members_role_and_takes_nothing_away(cast: Cast) -> None:
    made = create_key(
        system_actor(cast.account.id), name="cli", preset="operator", default_space_id=cast.space.id
    )
    actor = authenticate({"x-api-key": made.secret}, address="")
    assert (actor.role, Scope.EXPORT_READ in actor.scopes) == (Role.MEMBER, True)
    for whole in (False, True):
        with pytest.raises(Forbidden):
            open_export(actor, whole_account=whole)
    with pytest.raises(Forbidden):
        require_import(actor, cast.space)


def test_a_key_that_is_held_to_a_space_exports_that_alone(cast: Cast) -> None:
    create_space(cast.owner, name="Other")
    held = replace(cast.agent, role=cast.owner.role, space_ids=frozenset({cast.space.id}))
    assert taken(held).namelist()
    with pytest.raises(Forbidden):
        open_export(held, whole_account=True)
    with pytest.raises(NotFound):
        open_export(held, "other")
    with pytest.raises(NotFound):
        open_export(cast.owner, str(new_id()))


def test_an_export_is_written_down_where_those_who_manage_see_it(cast: Cast) -> None:
    taken(cast.admin)
    event = Event.objects.get(type="export.created")
    assert (event.actor, event.object_type, event.space_id) == (cast.admin.key, "space", cast.space.id)
    assert earlier_exports(cast.owner, cast.space) == [event]
    with pytest.raises(Forbidden):
        earlier_exports(cast.teammate, cast.space)


def test_the_last_line_is_as_whole_as_the_first_however_many_there_are(cast: Cast) -> None:
    told: list[int] = []
    for n in range(1_050):
        set_value(cast.agent, "n", str(n), "x" * 40)
    export = open_export(cast.owner)
    content = b"".join(stream_export(export, told.append))
    archive = zipfile.ZipFile(io.BytesIO(content))
    assert sorted(int(row["key"]) for row in rows(archive, "values.jsonl")) == list(range(1_050))
    assert archive.testzip() is None
    assert told[:2] == [500, 1_000]
    assert export.rows > 2_000
