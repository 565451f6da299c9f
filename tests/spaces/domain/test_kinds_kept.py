"""How records, the journal and values leave, and how the first two are forgotten."""

from datetime import date
from typing import Any

import pytest
from django.db import connection

from accounts.models import Event
from memoryhub.common.errors import Forbidden, NotFound, ValidationFailed
from memoryhub.common.ids import new_id, typed_id
from spaces.domain.journal import Log, write_journal
from spaces.domain.journal_kind import JOURNAL, redact_entry
from spaces.domain.kinds import Forgetting, Forgotten, Hit, Kind, Selection
from spaces.domain.plan_kind import PLANS
from spaces.domain.plans import Changes as PlanChanges
from spaces.domain.plans import create_plan, update_plan
from spaces.domain.record_kind import RECORDS
from spaces.domain.records import Changes, put_record
from spaces.domain.spaces import create_space
from spaces.domain.value_kind import VALUES
from spaces.domain.values import set_value
from spaces.models import JournalEntry, JournalVersion, Record, RecordVersion
from tests.conftest import Cast

pytestmark = pytest.mark.usefixtures("inside")

DAY = date(2026, 8, 8)
PHRASE = "purple elephant"


def forgetting(kind: Kind) -> Forgetting:
    assert kind.forgetting is not None
    return kind.forgetting


def forget(cast: Cast, kind: Kind, **selection: Any) -> tuple[list[Hit], Forgotten]:
    wanted = Selection(cast.space, **selection)
    hits = forgetting(kind).find(cast.agent, wanted)
    return hits, forgetting(kind).erase(cast.agent, wanted, hits)


def record(cast: Cast, key: str = "", **data: Any) -> Record:
    return put_record(cast.agent, "tasks", Changes(data=data), key=key)[0]


def journal(cast: Cast, summary: str = "", day: date = DAY, **lists: list[str]) -> JournalEntry:
    return write_journal(cast.agent, day, Log(summary, **lists))[0]


def nowhere(phrase: str) -> bool:
    tables = ("record", "recordversion", "journalentry", "journalversion")
    with connection.cursor() as cursor:
        found = []
        for table in tables:
            cursor.execute(f"select count(*) from spaces_{table} t where t::text ilike %s", [f"%{phrase}%"])
            found += cursor.fetchone()
    with connection.cursor() as cursor:
        cursor.execute("select count(*) from accounts_event e where e::text ilike %s", [f"%{phrase}%"])
        found += cursor.fetchone()
    return found == [0] * 5


def told(cast: Cast) -> list[str]:
    return list(
        Event.objects.exclude(object_type__in=["key", "space"]).order_by("id").values_list("type", flat=True)
    )


# Records


def test_records_that_hold_the_phrase_anywhere_are_forgotten_whole(cast: Cast) -> None:
    gone = [
        record(cast, note="The Purple Elephant is late"),
        record(cast, deep={"list": [{"a": PHRASE.upper()}]}),
        record(cast, **{f"a {PHRASE}": 1}),
        record(cast, key=f"about {PHRASE}"),
    ]
    kept = record(cast, note="elephant, purple")
    hits, done = forget(cast, RECORDS, query=PHRASE)
    assert {hit.id for hit in hits} == {row.id for row in gone}
    assert done == Forgotten(deleted=4)
    assert list(Record.objects.all()) == [kept]
    assert nowhere(PHRASE)
    assert told(cast)[-4:] == ["record.forgotten"] * 4


def test_a_phrase_in_earlier_versions_only_takes_those_and_leaves_the_record(cast: Cast) -> None:
    record(cast, key="a", note=PHRASE)
    record(cast, key="a", note="something else")
    stays = record(cast, key="a", note="and more")
    hits, done = forget(cast, RECORDS, query=PHRASE)
    assert hits == [Hit(stays.id, PHRASE, earlier=True)]
    assert done == Forgotten(versions=1)
    assert (Record.objects.get().data, RecordVersion.objects.count()) == ({"note": "and more"}, 1)
    assert nowhere(PHRASE)


def test_numbers_and_quotes_are_found_as_they_are_read(cast: Cast) -> None:
    record(cast, phone=4711)
    record(cast, note='she said "now"\nand left')
    assert forget(cast, RECORDS, query="4711")[1].deleted == 1
    assert forget(cast, RECORDS, query='"NOW"\nand')[1].deleted == 1


def test_finding_changes_nothing_and_shows_a_sample(cast: Cast) -> None:
    kept = record(cast, key="a", note="x" * 100 + PHRASE)
    hits = forgetting(RECORDS).find(cast.agent, Selection(cast.space, query=PHRASE))
    assert [(hit.id, len(hit.sample), hit.earlier) for hit in hits] == [(kept.id, 80, False)]
    assert Record.objects.get() == kept


def test_a_record_named_by_id_is_forgotten_with_its_versions(cast: Cast) -> None:
    record(cast, key="a", note="one")
    named = record(cast, key="a", note="two")
    other = record(cast, note="three")
    hits, done = forget(cast, RECORDS, ids=(named.id,))
    assert [(hit.id, hit.sample) for hit in hits] == [(named.id, "a note two")]
    assert done == Forgotten(deleted=1)
    assert (list(Record.objects.all()), RecordVersion.objects.count()) == ([other], 0)


@pytest.mark.parametrize("kind", [RECORDS, JOURNAL], ids=lambda kind: kind.name)
def test_an_id_that_one_may_not_read_refuses_all_of_it(cast: Cast, kind: Kind) -> None:
    mine = {RECORDS: record(cast, note=PHRASE).id, JOURNAL: journal(cast, PHRASE).id}[kind]
    for unknown in (new_id(), cast.space.id):
        with pytest.raises(NotFound):
            forgetting(kind).find(cast.agent, Selection(cast.space, ids=(mine, unknown)))
    with pytest.raises(Forbidden):
        forgetting(kind).find(cast.viewer, Selection(cast.space, ids=(mine,)))


def test_a_query_reaches_its_space_only(cast: Cast) -> None:
    create_space(cast.owner, name="Other")
    put_record(cast.owner, "tasks", Changes(data={"note": PHRASE}), space="other")
    assert forget(cast, RECORDS, query=PHRASE) == ([], Forgotten())


# The journal


def test_a_phrase_is_cut_out_of_an_entry_and_of_all_its_versions(cast: Cast) -> None:
    journal(cast, f"Met the {PHRASE}", decisions=[f"Feed the {PHRASE.title()}", "other"])
    journal(cast, "Nothing of it", open_loops=[PHRASE])
    hits, done = forget(cast, JOURNAL, query=PHRASE)
    entry = JournalEntry.objects.get()
    assert [hit.id for hit in hits] == [entry.id]
    assert done == Forgotten(redacted=1)
    assert (entry.summary, entry.open_loops, entry.version) == ("Nothing of it", ["[redacted]"], 3)
    earlier = JournalVersion.objects.get()
    assert (earlier.version, earlier.data["summary"]) == (1, "Met the [redacted]")
    assert earlier.data["decisions"] == ["Feed the [redacted]", "other"]
    assert nowhere(PHRASE)
    assert told(cast)[-1] == "journal.redacted"


def test_deleting_takes_the_entry_and_its_versions(cast: Cast) -> None:
    journal(cast, PHRASE)
    kept = journal(cast, "other", date(2026, 8, 7))
    hits, done = forget(cast, JOURNAL, query=PHRASE, redact=False)
    assert (len(hits), done, list(JournalEntry.objects.all())) == (1, Forgotten(deleted=1), [kept])
    assert nowhere(PHRASE)


def test_deleting_takes_only_the_versions_where_the_entry_is_without_it(cast: Cast) -> None:
    journal(cast, PHRASE)
    journal(cast, "other")
    _, done = forget(cast, JOURNAL, query=PHRASE, redact=False)
    assert (done, JournalEntry.objects.get().summary) == (Forgotten(versions=1), "other")
    assert nowhere(PHRASE)


def test_an_entry_named_by_id_goes_whole(cast: Cast) -> None:
    named = journal(cast, "one")
    _, done = forget(cast, JOURNAL, ids=(named.id,))
    assert (done, JournalEntry.objects.exists()) == (Forgotten(deleted=1), False)


def test_one_entry_is_redacted_without_touching_others(cast: Cast) -> None:
    journal(cast, f"the {PHRASE}"), journal(cast, "nothing left"), journal(cast, PHRASE, date(2026, 8, 7))
    entry = redact_entry(cast.agent, DAY, PHRASE)
    assert (entry.summary, entry.version, JournalVersion.objects.get().data["summary"]) == (
        "nothing left",
        2,
        "the [redacted]",
    )
    assert JournalEntry.objects.get(date=date(2026, 8, 7)).summary == PHRASE
    assert told(cast)[-1] == "journal.redacted"
    for phrase in (PHRASE, " \u200b"):
        with pytest.raises(ValidationFailed):
            redact_entry(cast.agent, DAY, phrase)
    with pytest.raises(Forbidden):
        redact_entry(cast.viewer, DAY, "nothing")


def test_cutting_never_makes_a_text_too_long(cast: Cast) -> None:
    journal(cast, "周" * 10_000, decisions=["周" * 1_000])
    forget(cast, JOURNAL, query="周")
    entry = JournalEntry.objects.get()
    assert (entry.summary, entry.decisions) == ("█" * 10_000, ["█" * 1_000])


# Leaving


def test_a_record_leaves_with_every_field_and_version(cast: Cast) -> None:
    put_record(cast.agent, "tasks", Changes(due_at="2026-08-08", data={"n": 1}, origin="user"), key="a")
    stored, _ = put_record(cast.agent, "tasks", Changes(status="done", due_at="", data={"n": 2}), key="a")
    (row,) = RECORDS.export(cast.agent, cast.space)
    times = [row.pop("created_at"), row.pop("updated_at"), row["versions"][0].pop("written_at")]
    assert all(isinstance(t, str) and t.endswith("Z") for t in times)
    assert row == {
        "id": typed_id("rec", stored.id),
        "collection": "tasks",
        "key": "a",
        "status": "done",
        "due_at": None,
        "due_date_only": False,
        "data": {"n": 2},
        "origin": "user",
        "version": 2,
        "written_by": cast.agent.key,
        "versions": [
            {
                "version": 1,
                "written_by": cast.agent.key,
                "status": "open",
                "due_at": "2026-08-08",
                "due_date_only": True,
                "data": {"n": 1},
                "origin": "user",
            }
        ],
    }


def test_an_entry_leaves_with_every_field_and_version(cast: Cast) -> None:
    journal(cast, "one", source_refs=["pr/1"])
    stored = journal(cast, "two")
    (row,) = JOURNAL.export(cast.agent, cast.space)
    for moment in (row.pop("created_at"), row.pop("updated_at"), row["versions"][0].pop("written_at")):
        assert moment.endswith("Z")
    empty: dict[str, Any] = {"decisions": [], "open_loops": [], "source_refs": []}
    assert row == {
        "id": typed_id("jrn", stored.id),
        "kind": "day",
        "date": "2026-08-08",
        "summary": "two",
        **empty,
        "version": 2,
        "written_by": cast.agent.key,
        "versions": [
            {
                "version": 1,
                "written_by": cast.agent.key,
                "summary": "one",
                **empty,
                "source_refs": ["pr/1"],
            }
        ],
    }


def test_a_value_leaves_with_every_field(cast: Cast) -> None:
    stored, _ = set_value(cast.agent, "n", "k", None)
    (row,) = VALUES.export(cast.agent, cast.space)
    assert row.pop("created_at") == row.pop("updated_at")
    assert row == {
        "id": typed_id("val", stored.id),
        "namespace": "n",
        "key": "k",
        "value": None,
        "version": 1,
        "written_by": cast.agent.key,
    }


def test_a_plan_leaves_with_every_field_and_version(cast: Cast) -> None:
    said = {"tags": ["a"], "metadata": {"n": 1}, "type": "prd", "status": "active"}
    plan = create_plan(cast.agent, "One", "1", PlanChanges(**said))
    update_plan(cast.agent, plan.id, PlanChanges(title="Two", content="2"))
    (row,) = PLANS.export(cast.agent, cast.space)
    for moment in (
        row.pop("created_at"),
        row.pop("updated_at"),
        *(v.pop("written_at") for v in row["versions"]),
    ):
        assert moment.endswith("Z")
    by = {"written_by": cast.agent.key}
    diff = "@@ -1 +1 @@\n-1\n\\ No newline at end of file\n+2\n\\ No newline at end of file\n"
    one = {"version": 1, "title": "One", "content": "1", "diff": "", "changed": [], **said, **by}
    two = {"version": 2, "title": "Two", "content": "2", "diff": diff, "changed": ["title"], **said, **by}
    whole = {"id": typed_id("pln", plan.id), "title": "Two", "content": "2", "version": 2, **said, **by}
    assert row == {**whole, "versions": [one, two]}


@pytest.mark.parametrize("kind", [RECORDS, JOURNAL, VALUES, PLANS], ids=lambda kind: kind.name)
def test_the_account_as_a_whole_has_none_of_them(cast: Cast, kind: Kind) -> None:
    record(cast), journal(cast, "x"), set_value(cast.agent, "n", "k", 1), create_plan(cast.agent, "One", "1")
    assert list(kind.export(cast.agent, None)) == []
    assert len(list(kind.export(cast.agent, cast.space))) == 1
