from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
import time_machine
from django.apps import apps
from django.core.cache import cache
from django.db import connection
from django.db.models import CASCADE
from django.utils import timezone

from accounts.models import Event, Job
from accounts.models.tenant import Tenant
from accounts.scopes import Scope
from memoryhub.common.errors import Forbidden, NotFound, ValidationFailed
from memoryhub.common.ids import new_id, typed_id
from memoryhub.common.tenancy import tenant
from memoryhub.flows.forgetting import forget
from spaces.domain.capture import Said as Offered
from spaces.domain.capture import capture
from spaces.domain.journal import Log, write_journal
from spaces.domain.kinds import all_kinds, forgettable_kinds
from spaces.domain.ledger import Entry, record_transaction, set_reminder
from spaces.domain.memories import edit_memory, find_memories, remember
from spaces.domain.memories.access import writing_place
from spaces.domain.memories.remembering import composed
from spaces.domain.records import Changes, put_record
from spaces.domain.spaces import create_space
from spaces.domain.summaries import Item, Said, record_summary
from spaces.models import (
    Capture,
    JournalEntry,
    Memory,
    MemoryVersion,
    Record,
    Reminder,
    Space,
    SpaceMember,
    Summary,
    Transaction,
)
from tests.conftest import Cast

pytestmark = pytest.mark.usefixtures("inside")
NOW = datetime(2026, 3, 2, 12, tzinfo=UTC)
NOT_REMEMBERED = {
    "accounts.Checkpoint",  # hashes and signatures
    "actions.Connection",
    "actions.Delivery",  # names actions by their ids
    "actions.MailChoice",
    "actions.Notice",
    "actions.Policy",
    "actions.PolicyVersion",
    "actions.WebhookLetter",  # that one was written, and about which webhook
    "spaces.AutoContext",
    "spaces.Space",
    "spaces.SpaceMember",
    "spaces.Transfer",
    "spaces.TransferPart",
}
EVERYWHERE = ("memories", "records", "journal")


@pytest.fixture(autouse=True)
def no_rehearsals() -> None:
    cache.clear()


def say(cast: Cast, text: str, **fields: Any) -> str:
    return typed_id("mem", remember(cast.agent, text=text, **fields).memory.id)


def texts() -> list[str]:
    return list(Memory.objects.order_by("created_at", "id").values_list("text", flat=True))


def summarise(cast: Cast, text: str, *items: str, space: str = "main") -> None:
    said = [Item({"kind": "fact", "text": item}) for item in items]
    record_summary(cast.agent, Said(text, said), space=space)


def offer(cast: Cast, text: str) -> None:
    """A candidate that waits for a person."""
    Space.objects.filter(id=cast.space.id).update(capture_mode="review")
    [outcome] = capture(cast.agent, [Offered("user", text)]).outcomes
    assert outcome.capture is not None, outcome.rule


def pay(cast: Cast, **fields: str) -> None:
    record_transaction(cast.agent, Entry(**{"type": "expense", "amount": "4", "currency": "CHF", **fields}))


def remind(cast: Cast, content: str) -> None:
    set_reminder(cast.agent, content, "2026-09-01")


def dump() -> str:
    """Every row of every table that the application's login sees."""
    with connection.cursor() as cursor:
        cursor.execute("select tablename from pg_tables where schemaname = 'public'")
        tables = [name for (name,) in cursor.fetchall()]
        rows = []
        for table in tables:
            cursor.execute(f"select coalesce(string_agg(t::text, chr(10)), '') from \"{table}\" t")
            rows.append(cursor.fetchone()[0])
    return "\n".join(rows)


def test_memories_that_hold_every_word_of_the_query_are_forgotten(cast: Cast) -> None:
    say(cast, "Acme wants a discount")
    say(cast, "Acme is in Berlin")
    say(cast, "A discount is planned, said ACME's boss")
    reached = forget(cast.agent, query="acme discount")["memories"]
    assert (len(reached.hits), reached.forgotten.deleted) == (2, 2)
    assert texts() == ["Acme is in Berlin"]


@pytest.mark.parametrize(
    "field",
    [
        {"subject": "zanzibar"},
        {"tags": ["Zanzibar"]},
        {"topics": ["doc:zanzibar 1"]},
        {"source_ref": "https://example.com/zanzibar"},
        {"path": "notes/zanzibar"},
        {"links": [{"title": "On Zanzibar"}]},
        {"metadata": {"deep": [{"zanzibar": 1}]}},
        {"text": "About Z\u00e1nzibar."},
    ],
)
def test_a_word_is_looked_for_in_all_that_a_writer_gave(cast: Cast, field: dict[str, Any]) -> None:
    remember(cast.agent, **{"text": "one", **field})
    forget(cast.agent, query="Zanzibar")
    assert texts() == []


def test_words_that_carry_no_meaning_narrow_the_query_all_the_same(cast: Cast) -> None:
    say(cast, "The pump is working")
    say(cast, "The fan is not working")
    forget(cast.agent, query="not working")
    assert texts() == ["The pump is working"]


def test_who_wrote_a_memory_and_when_is_no_part_of_what_it_says(cast: Cast) -> None:
    say(cast, "one", agent="coder", occurred_at="2026-03-02")
    for query in ("coder", "Monday", "Main", "March 2026"):
        assert forget(cast.agent, query=query)["memories"].hits == []


def test_nothing_of_a_forgotten_text_is_left_in_the_database(cast: Cast) -> None:
    canary = "quetzalcoatl"
    id = say(cast, f"first {canary}", tags=[canary], metadata={"k": canary})
    edit_memory(cast.agent, id, text=f"second {canary}")
    edit_memory(cast.agent, id, text="third", tags=[], metadata={})
    say(cast, f"expired {canary}", expires_at="2126-01-01")
    Memory.objects.filter(text=f"expired {canary}").update(expires_at=NOW)
    old = say(cast, f"superseded {canary}")
    Memory.objects.filter(text=f"superseded {canary}").update(status="superseded")
    held = say(cast, f"quarantined {canary}")
    Memory.objects.filter(text=f"quarantined {canary}").update(status="quarantined")
    write_journal(cast.agent, timezone.localdate(), Log(summary=f"met {canary} at noon", decisions=[canary]))
    write_journal(cast.agent, timezone.localdate(), Log(summary="nothing"))
    put_record(cast.agent, "leads", Changes(data={"who": canary}))
    assert canary in dump()
    for dry_run in (True, False):
        reached = forget(cast.agent, query=canary, scopes=EVERYWHERE, dry_run=dry_run)
    assert canary not in dump()
    assert set(reached["memories"].ids) >= {id, old, held}
    assert (reached["memories"].forgotten.deleted, reached["memories"].forgotten.versions) == (3, 2)
    assert texts() == ["third"]
    assert find_memories(cast.agent, canary).page.items == []


def test_what_summaries_candidates_and_the_ledger_tell_of_it_goes_along(cast: Cast) -> None:
    canary = "quetzalcoatl"
    memory = say(cast, f"{canary} called")
    summarise(cast, f"Tea is at four. We met {canary}. Cake is at five.", f"{canary} called")
    summarise(cast, "Tea is at four.")
    offer(cast, f"Remember that {canary} prefers tea.")
    pay(cast, item="Lunch", merchant=f"{canary} Inn", note=f"with {canary}")
    remind(cast, f"Call {canary}")
    for dry_run in (True, False):
        reached = forget(cast.owner, query=canary, scopes=EVERYWHERE, dry_run=dry_run)
        assert {scope: len(found.hits) for scope, found in reached.items() if found.hits} == {
            "memories": 1,
            "summaries": 1,
            "captures": 1,
            "ledger": 2,
        }
    assert reached["memories"].ids == [memory]
    assert {id[:4] for id in reached["ledger"].ids} == {"txn_", "rmd_"}
    assert canary not in dump()
    assert set(Summary.objects.values_list("text", flat=True)) == {
        "Tea is at four. [redacted] Cake is at five.",
        "Tea is at four.",
    }
    [paid] = Transaction.objects.all()
    assert (paid.item, paid.merchant, paid.note, paid.amount) == (
        "Lunch",
        "[redacted] Inn",
        "with [redacted]",
        4,
    )
    assert Reminder.objects.get().content == "Call [redacted]"


def test_a_memory_that_is_named_takes_its_words_along_out_of_what_recorded_it(cast: Cast) -> None:
    summarise(cast, "Ann said: deploys  go out on Tuesdays, and left.", "Deploys go out on Tuesdays.")
    summarise(cast, "Nothing else was said.", "Tea is at four")
    offer(cast, "Remember that deploys go out on Tuesdays")
    id = typed_id("mem", Memory.objects.get(text="Deploys go out on Tuesdays.").id)
    reached = forget(cast.owner, ids=[id])
    assert {scope: len(found.hits) for scope, found in reached.items()} == {"memories": 1, "summaries": 1}
    assert set(Summary.objects.values_list("text", flat=True)) == {
        "Ann said: [redacted], and left.",
        "Nothing else was said.",
    }


def test_a_candidate_that_says_what_a_forgotten_memory_said_goes_with_it(cast: Cast) -> None:
    offer(cast, "Remember that tea is at four.")
    id = say(cast, "remember that tea is at four")
    reached = forget(cast.owner, ids=[id])
    assert reached["captures"].forgotten.deleted == 1
    assert not Capture.objects.exists()


def test_a_summary_loses_what_together_holds_the_words_and_nothing_else(cast: Cast) -> None:
    summarise(cast, "Acme called.\nThe price is fixed.\nTea is at four.")
    summarise(cast, "Acme called. Tea is at four.")
    forget(cast.agent, query="acme price")
    assert set(Summary.objects.values_list("text", flat=True)) == {
        "[redacted]\n[redacted]\nTea is at four.",
        "Acme called. Tea is at four.",
    }


def test_a_summary_out_of_which_something_was_cut_may_be_recorded_anew(cast: Cast) -> None:
    summarise(cast, "Acme called.")
    forget(cast.agent, query="acme")
    summarise(cast, "Acme called.")
    assert sorted(Summary.objects.values_list("text", flat=True)) == ["Acme called.", "[redacted]"]


def test_no_sample_shows_what_the_callers_scopes_do_not_cover(cast: Cast) -> None:
    summarise(cast, "Acme called.")
    pay(cast, item="Acme")
    deleter = cast.key(scopes=frozenset({Scope.MEMORY_DELETE, Scope.SPACE_WRITE}))
    reached = forget(deleter, query="acme", scopes=EVERYWHERE, dry_run=True)
    assert [hit.sample for scope in ("summaries", "ledger") for hit in reached[scope].hits] == ["", ""]


def test_memories_alone_leave_the_ledger_and_other_spaces_as_they_are(cast: Cast) -> None:
    create_space(cast.owner, name="Other", slug="other")
    summarise(cast, "Acme called.", space="other")
    pay(cast, item="Acme")
    assert list(forget(cast.agent, query="acme")) == ["memories"]
    assert Summary.objects.get().text == "Acme called."
    assert Transaction.objects.get().item == "Acme"


def test_a_text_that_only_an_earlier_version_held_goes_and_the_memory_stays(cast: Cast) -> None:
    id = say(cast, "The code is 4711")
    edit_memory(cast.agent, id, text="The code was changed")
    edit_memory(cast.agent, id, text="The code was changed again")
    reached = forget(cast.agent, query="4711")["memories"]
    assert (reached.forgotten.deleted, reached.forgotten.versions) == (0, 1)
    assert texts() == ["The code was changed again"]
    assert [v.data["text"] for v in MemoryVersion.objects.all()] == ["The code was changed"]


def test_a_dry_run_changes_nothing_and_shows_the_beginnings(cast: Cast) -> None:
    id = say(cast, "Acme " + "x" * 100)
    before = dump()
    [hit] = forget(cast.agent, query="acme", dry_run=True)["memories"].hits
    assert len(hit.sample) == 80
    assert texts() == ["Acme " + "x" * 100]
    assert dump() == before
    assert forget(cast.agent, query="acme", dry_run=True)["memories"].ids == [id]


def test_events_say_which_ids_were_forgotten_and_nothing_else(cast: Cast) -> None:
    made = {say(cast, f"Acme {n}") for n in range(3)}
    forget(cast.agent, query="acme")
    events = Event.objects.filter(type="memory.forgotten")
    assert {e.object_id for e in events} == made
    assert {(e.summary, e.space_id) for e in events} == {("", cast.space.id)}
    assert Job.objects.filter(kind="seal_events").exists()


def test_ids_and_a_query_are_a_union(cast: Cast) -> None:
    by_id, _, _ = say(cast, "one"), say(cast, "Acme two"), say(cast, "three")
    reached = forget(cast.agent, ids=[by_id, by_id, by_id.removeprefix("mem_")], query="acme")["memories"]
    assert len(reached.hits) == 2
    assert texts() == ["three"]


def test_an_id_is_reached_in_any_space_and_also_when_it_is_expired(cast: Cast) -> None:
    create_space(cast.owner, name="Other", slug="other")
    there = typed_id("mem", remember(cast.agent.in_space("other"), text="there").memory.id)
    expired = say(cast, "expired")
    Memory.objects.filter(text="expired").update(expires_at=NOW)
    forget(cast.agent, ids=[there, expired])
    assert texts() == []


def test_a_query_reaches_the_space_and_the_account_and_no_other_space(cast: Cast) -> None:
    create_space(cast.owner, name="Other", slug="other")
    say(cast, "Acme here")
    remember(cast.agent.in_space("other"), text="Acme there")
    remember(cast.agent, text="Acme everywhere", account_wide=True)
    with tenant(cast.outsider.account_id):
        remember(cast.outsider, text="Acme elsewhere")
    held = cast.key(space_ids=frozenset([cast.space.id]))
    forget(held, query="acme")
    assert sorted(texts()) == ["Acme everywhere", "Acme there"]
    forget(cast.agent, query="acme")
    assert texts() == ["Acme there"]
    with tenant(cast.outsider.account_id):
        assert texts() == ["Acme elsewhere"]


def test_one_unknown_id_refuses_the_whole_call_in_the_same_words_as_a_foreign_one(cast: Cast) -> None:
    mine = say(cast, "mine")
    with tenant(cast.outsider.account_id):
        foreign = typed_id("mem", remember(cast.outsider, text="theirs").memory.id)
    create_space(cast.owner, name="Private", slug="private", visibility="members")
    hidden = typed_id("mem", remember(cast.owner.in_space("private"), text="hidden").memory.id)
    answers = set()
    for other in (foreign, hidden, typed_id("mem", new_id()), "mem_x", ""):
        with pytest.raises(NotFound) as caught:
            forget(cast.agent, ids=[mine, other], query="mine")
        answers.add(str(caught.value.body()))
    assert len(answers) == 1
    assert sorted(texts()) == ["hidden", "mine"]


def test_ids_may_lie_where_one_writes_though_the_space_of_the_call_is_only_read(cast: Cast) -> None:
    create_space(cast.owner, name="Other", slug="other")
    there = typed_id("mem", remember(cast.agent.in_space("other"), text="Acme there").memory.id)
    here = say(cast, "Acme here")
    SpaceMember.objects.create(
        account_id=cast.account.id, space=cast.space, user_id=cast.agent.user_id, role="viewer"
    )
    for refused in ({"query": "acme"}, {"ids": [here]}, {"ids": [there, here]}):
        with pytest.raises(Forbidden):
            forget(cast.agent, **refused)
    forget(cast.agent, ids=[there])
    assert texts() == ["Acme here"]


def test_who_may_not_write_may_not_forget(cast: Cast) -> None:
    id = say(cast, "Acme")
    for selectors in ({"ids": [id]}, {"query": "acme"}):
        with pytest.raises(Forbidden):
            forget(cast.viewer, **selectors)
    assert texts() == ["Acme"]


@pytest.mark.parametrize(
    "query",
    ["", "  ", "ab", "a", "???", "\u200b\u200b\u200b", "...", "- - -", " a "],
)
def test_a_query_that_says_too_little_is_refused(cast: Cast, query: str) -> None:
    say(cast, "a b ab ???")
    with pytest.raises(ValidationFailed):
        forget(cast.agent, query=query)
    assert texts() == ["a b ab ???"]


def test_a_single_character_is_enough_where_it_is_a_word(cast: Cast) -> None:
    say(cast, "会議は火曜日")
    say(cast, "部署窗口")
    forget(cast.agent, query="火")
    assert texts() == ["部署窗口"]


@pytest.mark.parametrize("scopes", [(), ("memory",), ("memories", "values")])
def test_scopes_are_those_that_can_be_forgotten(cast: Cast, scopes: tuple[str, ...]) -> None:
    with pytest.raises(ValidationFailed):
        forget(cast.agent, query="acme", scopes=scopes)
    assert set(forgettable_kinds()) == set(EVERYWHERE)


def test_records_and_the_journal_need_the_scope_to_write_them(cast: Cast) -> None:
    only_memories = cast.key(scopes=frozenset({Scope.MEMORY_DELETE}))
    for scopes in (("records",), ("journal",), EVERYWHERE):
        with pytest.raises(Forbidden) as caught:
            forget(only_memories, query="acme", scopes=scopes)
        assert caught.value.details == {"missing_scopes": ["space:write"]}
    forget(only_memories, query="acme")


def test_records_and_the_journal_are_searched_for_the_exact_phrase_in_any_case(cast: Cast) -> None:
    for text in ("Acme GmbH wants more", "GmbH of Acme"):
        say(cast, text)
        put_record(cast.agent, "leads", Changes(data={"note": text}))
    write_journal(cast.agent, timezone.localdate(), Log(summary="Met ACME GMBH and others"))
    reached = forget(cast.agent, query="acme gmbh", scopes=EVERYWHERE)
    assert {scope: len(found.hits) for scope, found in reached.items()} == {
        "memories": 2,
        "records": 1,
        "journal": 1,
    }
    assert reached["journal"].forgotten.redacted == 1
    assert JournalEntry.objects.get().summary.startswith("Met ")
    assert [r.data for r in Record.objects.all()] == [{"note": "GmbH of Acme"}]


def test_journal_entries_can_go_whole(cast: Cast) -> None:
    write_journal(cast.agent, timezone.localdate(), Log(summary="Met Acme and others"))
    reached = forget(cast.agent, query="acme", scopes=["journal"], redact=False)
    assert (reached["journal"].forgotten.deleted, JournalEntry.objects.count()) == (1, 0)


def test_an_id_says_its_kind_and_needs_it_among_the_scopes(cast: Cast) -> None:
    record, _ = put_record(cast.agent, "leads", Changes(data={}))
    id = typed_id("rec", record.id)
    with pytest.raises(ValidationFailed) as caught:
        forget(cast.agent, ids=[id])
    assert list(caught.value.fields) == ["ids"]
    forget(cast.agent, ids=[id], scopes=["memories", "records"])
    assert not Record.objects.exists()


class TestMoreThanTwoHundred:
    @pytest.fixture(autouse=True)
    def fill(self, cast: Cast, inside: None) -> None:
        self.many(cast)

    def many(self, cast: Cast) -> None:
        place = writing_place(cast.agent)
        Memory.objects.bulk_create(composed(cast.agent, place, {"text": f"Acme {n}"}) for n in range(201))

    def test_need_a_dry_run_first(self, cast: Cast) -> None:
        with pytest.raises(ValidationFailed) as caught:
            forget(cast.agent, query="acme")
        assert "201" in caught.value.message
        assert Memory.objects.count() == 201
        forget(cast.agent, query="acme", dry_run=True)
        assert forget(cast.agent, query="acme")["memories"].forgotten.deleted == 201

    @pytest.mark.parametrize(
        "attempt",
        [
            lambda cast: forget(cast.agent, query="ACME"),
            lambda cast: forget(cast.agent, query="acme", scopes=["memories", "records"]),
            lambda cast: forget(cast.agent, query="acme", redact=False),
            lambda cast: forget(cast.teammate, query="acme"),
        ],
    )
    def test_need_it_by_the_same_caller_with_the_same_arguments(
        self, cast: Cast, attempt: Callable[[Cast], object]
    ) -> None:
        forget(cast.agent, query="acme", dry_run=True)
        with pytest.raises(ValidationFailed):
            attempt(cast)
        assert Memory.objects.count() == 201

    def test_need_it_within_ten_minutes(self, cast: Cast) -> None:
        with time_machine.travel(NOW, tick=False) as clock:
            forget(cast.agent, query="acme", dry_run=True)
            clock.shift(timedelta(minutes=10, seconds=1))
            with pytest.raises(ValidationFailed):
                forget(cast.agent, query="acme")
            forget(cast.agent, query="acme", dry_run=True)
            clock.shift(timedelta(minutes=9, seconds=59))
            forget(cast.agent, query="acme")

    def test_need_another_one_for_the_next_time(self, cast: Cast) -> None:
        forget(cast.agent, query="acme", dry_run=True)
        forget(cast.agent, query="acme")
        self.many(cast)
        with pytest.raises(ValidationFailed):
            forget(cast.agent, query="acme")

    def test_are_two_hundred_or_fewer_without(self, cast: Cast) -> None:
        Memory.objects.filter(text="Acme 7").delete()
        forget(cast.agent, query="acme")
        assert texts() == []


def test_forgetting_takes_as_many_queries_for_three_as_for_one(
    cast: Cast, django_assert_max_num_queries: Callable[..., Any]
) -> None:
    counts = []
    for n in (1, 3):
        for i in range(n):
            say(cast, f"Acme {i}")
        with django_assert_max_num_queries(46) as asked:
            forget(cast.agent, query="acme", scopes=EVERYWHERE)
        counts.append(len(asked))
    assert counts[0] == counts[1]


def test_every_table_of_stored_text_belongs_to_a_kind() -> None:
    """Or goes with a row of one, as versions and all that is derived do."""
    known = {kind.model_label for kind in all_kinds()}
    tables = {
        model._meta.label
        for app in ("accounts", "spaces", "actions")
        for model in apps.get_app_config(app).get_models()
        if issubclass(model, Tenant) and not goes_with(model, known)
    }
    assert tables - NOT_REMEMBERED == known


def goes_with(model: type[Tenant], kinds: set[str]) -> bool:
    return any(
        field.many_to_one
        and field.remote_field.on_delete is CASCADE
        and field.related_model._meta.label in kinds
        for field in model._meta.concrete_fields
        if field.is_relation
    )


def test_memories_are_exported_whole_with_their_earlier_versions(cast: Cast) -> None:
    id = say(cast, "one", tags=["a"])
    edit_memory(cast.agent, id, text="two")
    remember(cast.agent, text="shared", account_wide=True)
    export = next(kind.export for kind in all_kinds() if kind.prefix == "mem")
    [row] = export(cast.owner, cast.space)
    assert (row["id"], row["text"], row["tags"], row["version"]) == (id, "two", ["a"], 2)
    assert [(v["version"], v["text"]) for v in row["versions"]] == [(1, "one")]
    assert [r["text"] for r in export(cast.owner, None)] == ["shared"]
