"""What was stored before its rule was there is gone over, cut where it stands, and told by counts alone."""

import json
from random import Random

import pytest
from django.apps import apps
from django.db import models

import memoryhub.operations.catalogue  # noqa: F401 (makes every kind known)
from accounts.models import Event, Tenant
from memoryhub.common.secrets.shapes import expand
from memoryhub.common.tenancy import tenant
from memoryhub.flows.rescanning import Found, Position, rescan, tables
from spaces.domain.memories import find_memories, list_versions, remember
from spaces.domain.spaces import create_space
from spaces.models import Memory, MemoryVersion, Record, Space, Value
from tests.conftest import Cast
from tests.memoryhub.flows.planting import dumped, plant, tables_with

pytestmark = pytest.mark.django_db(transaction=True)

SECRET = expand("ghp_{crc:30}", Random(31))
OTHER = expand("ghp_{crc:30}", Random(32))
MARK = "[REDACTED:github_token]"

ELSEWHERE = {
    "accounts": "names and addresses of people, keys and clients, each looked through as it is given",
    "actions": "what somebody agreed to stays as it was shown; what of it is looked at is told",
}
OUT_OF_IT = {
    "spaces.AutoContext": "a session's id",
    "spaces.EmbeddingFailure": "kinds of trouble",
    "spaces.MemoryChunk": "derived",
    "spaces.SpaceMember": "roles",
    "spaces.SummaryItem": "links",
    "spaces.Transfer": "over within a day",
    "spaces.TransferPart": "over within a day",
}


@pytest.fixture
def old(cast: Cast) -> Space:
    """A space that was filled when nobody looked for such secrets."""
    with tenant(cast.account.id):
        space = create_space(cast.owner, name="Old")
        Space.objects.filter(id=space.id).update(description=f"Ask for {SECRET}")
        plant(cast, space, SECRET, named=False)
        remember(cast.agent, text="The office is closed on Fridays")
    return space


def gone_over(cast: Cast, **how: object) -> dict[str, Found]:
    found: dict[str, Found] = {}
    for _, batch in rescan(cast.account.id, **how):  # type: ignore[arg-type]
        found.setdefault(batch.table, Found(batch.table)).add(batch)
    return found


def test_a_secret_is_cut_out_of_every_kind_of_thing_and_every_earlier_version(cast: Cast, old: Space) -> None:
    before = tables_with(SECRET)
    assert len(before) >= 15
    found = gone_over(cast)
    assert tables_with(SECRET) == set()
    cut = {kept.lower().replace(".", "_") for kept, told in found.items() if told.rows}
    assert cut == before
    assert MARK in dumped()
    assert "The office is closed on Fridays" in dumped()


def test_a_dry_run_tells_the_same_and_changes_nothing(cast: Cast, old: Space) -> None:
    before = dumped()
    would = {table: told.as_dict() for table, told in gone_over(cast, dry_run=True).items()}
    assert [line for line in dumped().splitlines() if "INSERT" in line] == [
        line for line in before.splitlines() if "INSERT" in line
    ]
    assert {table: told.as_dict() for table, told in gone_over(cast).items()} == would


def test_what_was_gone_over_once_holds_nothing_more(cast: Cast, old: Space) -> None:
    gone_over(cast)
    told = gone_over(cast)
    assert {found.rows for found in told.values()} == {0}
    assert sum(found.looked for found in told.values()) > 20


def test_it_goes_on_where_it_was_ended(cast: Cast, old: Space) -> None:
    steps = rescan(cast.account.id)
    position = next(position for position, found in steps if found.table == "spaces.MemoryVersion")
    steps.close()
    assert "spaces_memory" not in tables_with(SECRET)
    assert "spaces_record" in tables_with(SECRET)
    assert "spaces.Memory" not in gone_over(cast, since=position)
    assert tables_with(SECRET) == set()


def test_a_memory_is_found_by_what_is_left_of_it(cast: Cast) -> None:
    with tenant(cast.account.id):
        memory = remember(cast.agent, text=f"Deploys use {SECRET} at night").memory
    gone_over(cast)
    with tenant(cast.account.id):
        [found] = find_memories(cast.agent, "deploys night").page.items
        assert (found.id, found.text, found.version) == (memory.id, f"Deploys use {MARK} at night", 1)
        assert found.redactions == [{"category": "github_token", "count": 1}]
        assert find_memories(cast.agent, SECRET).page.items == []
        assert list_versions(cast.agent, memory.id).items == []


def test_of_two_that_say_the_same_without_their_secrets_one_gives_way(cast: Cast) -> None:
    with tenant(cast.account.id):
        first, second = (
            remember(cast.agent, text=f"Deploys use {s} at night").memory for s in (SECRET, OTHER)
        )
    gone_over(cast)
    with tenant(cast.account.id):
        kept, gave_way = Memory.objects.get(id=first.id), Memory.objects.get(id=second.id)
    assert (kept.status, gave_way.status, gave_way.superseded_by_id) == ("active", "superseded", kept.id)


def test_a_secret_in_a_name_is_told_and_left_to_a_person(cast: Cast) -> None:
    with tenant(cast.account.id):
        plant(cast, cast.space, SECRET)
    found = gone_over(cast)
    assert (found["spaces.Record"].names, found["spaces.Value"].names) == (1, 1)
    with tenant(cast.account.id):
        assert Record.objects.get().key == SECRET
        assert Value.objects.get().value == MARK + " again"


def test_the_team_sees_in_the_audit_trail_that_and_how_much_was_cut(cast: Cast, old: Space) -> None:
    gone_over(cast, dry_run=True)
    with tenant(cast.account.id):
        assert not Event.objects.filter(type="secrets.cut").exists()
    gone_over(cast)
    with tenant(cast.account.id):
        told = list(Event.objects.filter(type="secrets.cut").values_list("summary", flat=True))
    assert any(note.endswith("rows of spaces.MemoryVersion") for note in told)
    assert SECRET not in json.dumps(told)


def test_only_the_team_that_is_gone_over_is_changed(cast: Cast, old: Space) -> None:
    for _ in rescan(cast.outsider_person.account_id):
        pass
    assert SECRET in dumped()


def test_every_table_with_text_is_gone_over_or_known_not_to_be() -> None:
    """A new one fails until it is decided."""
    looked_at = {kept.label for kept in tables()}
    assert not looked_at & OUT_OF_IT.keys()
    for model in apps.get_models():
        texts = [f for f in model._meta.get_fields() if isinstance(f, models.TextField | models.JSONField)]
        if issubclass(model, Tenant) and texts and model._meta.app_label not in ELSEWHERE:
            assert model._meta.label in looked_at | OUT_OF_IT.keys(), f"{model._meta.label}: {texts}"


@pytest.mark.parametrize("kept", tables(), ids=lambda kept: kept.label)
def test_the_fields_that_are_looked_at_are_there(kept) -> None:  # type: ignore[no-untyped-def]
    names = {field.name for field in apps.get_model(kept.label)._meta.get_fields()}
    assert {*kept.fields, *kept.names} <= names


def test_versions_keep_what_else_they_said(cast: Cast) -> None:
    with tenant(cast.account.id):
        memory = plant(cast, cast.space, SECRET)
    gone_over(cast)
    with tenant(cast.account.id):
        [version] = MemoryVersion.objects.filter(memory_id=memory.id)
    assert (version.data["text"], version.data["tags"], version.version) == (MARK, [MARK], 1)


def test_an_unknown_table_begins_anew(cast: Cast, old: Space) -> None:
    gone_over(cast, since=Position("spaces.Gone"))
    assert tables_with(SECRET) == set()
