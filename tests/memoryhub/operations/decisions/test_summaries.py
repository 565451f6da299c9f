"""Recording what a session decided."""

import json
from datetime import timedelta
from random import Random
from typing import Any

import pytest
import time_machine
from django.utils import timezone

from accounts.models import Event
from accounts.scopes import Scope
from memoryhub.common.errors import Forbidden, HubError, NotFound, ValidationFailed
from memoryhub.common.ids import new_id, typed_id
from memoryhub.common.secrets.shapes import expand
from memoryhub.common.tenancy import tenant
from memoryhub.operations.base import REGISTRY
from spaces.models import Memory, SpaceMember, Summary
from tests.calls import call as ask_hub
from tests.calls import queries
from tests.conftest import Cast
from tests.memoryhub.operations.decisions.conftest import Desk, ask, decision, fact

pytestmark = pytest.mark.django_db
OAUTH = "Use OAuth for hosted clients"
CHAT = "\n".join(f"{who}: something" for who in ("User", "Assistant") * 3)


def refused(desk: Desk, *items: dict[str, Any], **given: Any) -> HubError:
    """Whatever is wrong with it, nothing of it is kept."""
    before = desk.stored()
    with pytest.raises(HubError) as caught:
        desk.record(*items, **given)
    assert desk.stored() == before
    with tenant(desk.cast.account.id):
        assert not Summary.objects.filter(text="refused").exists()
    return caught.value


def test_keeps_the_prose_and_a_memory_for_each_item(desk: Desk) -> None:
    item = decision(
        OAUTH,
        decided_by="Ana",
        topics=["auth", "file:src/auth.py"],
        links=[{"type": "pull_request", "ref": "#12", "url": "https://example.com/12"}],
    )
    answer = desk.record(
        item, fact("Tea"), agent="claude", session="s1", trigger="end", text="What we decided"
    )
    first, second = answer["records"]
    assert answer == {
        "summary_id": answer["summary_id"],
        "duplicate": False,
        "records": [
            {"index": 0, "id": first["id"], "outcome": "created", "seen_count": 1},
            {"index": 1, "id": second["id"], "outcome": "created", "seen_count": 1},
        ],
        "superseded": [],
        "resolved": [],
        "redactions": [],
    }
    (summary,) = ask(desk.actor, "memory_list_summaries")["summaries"]
    assert (summary["id"], summary["records"]) == (answer["summary_id"], [first["id"], second["id"]])
    assert [summary[n] for n in ("agent", "session", "trigger", "text")] == [
        "claude",
        "s1",
        "end",
        "What we decided",
    ]
    record = desk.listed(kind="decision")[0]
    assert [record[n] for n in ("text", "decided_by", "topics", "agent", "session", "space_id")] == [
        OAUTH, "Ana", ["auth", "file:src/auth.py"], "claude", "s1", desk.space,
    ]  # fmt: skip
    assert record["links"] == [
        {"type": "pull_request", "ref": "#12", "url": "https://example.com/12", "title": ""}
    ]
    assert (record["origin"], record["trust"], record["status"]) == ("agent", "agent", "active")


def test_what_is_recorded_here_is_recalled_by_other_families_with_all_it_has(desk: Desk) -> None:
    desk.record(decision(OAUTH, topics=["auth"]))
    (item,) = ask_hub(desk.actor, "recall", q="OAuth")["items"]
    assert (item["text"], item["kind"], item["topics"]) == (OAUTH, "decision", ["auth"])
    ask_hub(
        desk.actor, "remember", text="Deploys are on Tuesday", tags=["ops"], path="ops/deploys", origin="user"
    )
    (record,) = [r for r in desk.listed() if r["kind"] == "fact"]
    assert (record["tags"], record["path"], record["origin"]) == (["ops"], "ops/deploys", "user")


def test_without_a_space_it_belongs_to_the_account_as_a_whole(desk: Desk) -> None:
    desk.new_space("other")
    actor = desk.actor.in_space("other")
    for space in ("", None):
        ask(
            actor, "memory_record_summary", text=f"Said {space}", items=[fact(f"Tea {space}")], space_id=space
        )
    assert [record.get("space_id") for record in desk.listed()] == [None, None]
    limited = desk.cast.key(space_ids=frozenset({desk.cast.space.id}))
    with pytest.raises(Forbidden):
        ask(limited, "memory_record_summary", text="Said")


class TestSeenAgain:
    def test_what_an_active_memory_says_already_is_counted_and_joined(self, desk: Desk) -> None:
        [first] = desk.ids(fact("Ana lives in Porto.", topics=["ana"], links=["https://example.com/1"]))
        answer = desk.record(fact("ana lives  in PORTO", topics=["porto"], links=["https://example.com/2"]))
        assert answer["records"] == [{"index": 0, "id": first, "outcome": "seen_again", "seen_count": 2}]
        (record,) = desk.listed()
        assert (record["topics"], record["seen_count"]) == (["ana", "porto"], 2)
        assert [link["url"] for link in record["links"]] == ["https://example.com/1", "https://example.com/2"]

    def test_the_same_twice_in_one_call_is_one_memory(self, desk: Desk) -> None:
        answer = desk.record(fact("Tea"), fact("Cake"), fact("tea."))
        assert [r["outcome"] for r in answer["records"]] == ["created", "created", "seen_again"]
        assert answer["records"][0]["id"] == answer["records"][2]["id"]
        assert desk.stored() == 2

    def test_another_kind_or_space_is_another_memory(self, desk: Desk) -> None:
        [first] = desk.ids(fact("Tea"))
        assert desk.ids(decision("Tea")) != [first]
        assert desk.ids(fact("Tea"), space_id="") != [first]

    def test_an_expired_memory_says_nothing_any_more(self, desk: Desk) -> None:
        [first] = desk.ids(fact("Tea"))
        with tenant(desk.cast.account.id):
            Memory.objects.update(expires_at=timezone.now())
        (record,) = desk.record(fact("Tea"), text="again")["records"]
        assert (record["outcome"], record["id"] != first) == ("created", True)


class TestSuperseding:
    def test_the_old_one_makes_way_and_both_point_at_each_other(self, desk: Desk) -> None:
        [old] = desk.ids(fact("Likes Chinese food"))
        answer = desk.record(fact("Hates Chinese food", supersedes=old))
        [new] = [record["id"] for record in answer["records"]]
        assert (answer["superseded"], answer["resolved"]) == ([old], [])
        records = {record["id"]: record for record in desk.listed()}
        assert (records[old]["status"], records[old]["superseded_by"]) == ("superseded", new)
        assert (records[new]["status"], records[new]["supersedes"]) == ("active", [old])
        assert desk.found("chinese food") == ["Hates Chinese food"]
        assert desk.found("chinese food", include_inactive=True) == [
            "Hates Chinese food",
            "Likes Chinese food",
        ]
        assert [item["text"] for item in ask_hub(desk.actor, "recall", q="chinese food")["items"]] == [
            "Hates Chinese food"
        ]

    def test_an_answer_resolves_its_question_and_done_its_handoff(self, desk: Desk) -> None:
        question, handoff, other = desk.ids(
            {"kind": "question", "text": "Which day?"}, {"kind": "handoff", "text": "Ship it"},
            {"kind": "handoff", "text": "Test it"},
        )  # fmt: skip
        answer = desk.record(
            decision("Tuesday", supersedes=question), {"kind": "done", "text": "Shipped", "supersedes": handoff},
            fact("Nobody tests", supersedes=other),
        )  # fmt: skip
        assert (answer["resolved"], answer["superseded"]) == ([question, handoff], [other])
        records = {record["id"]: record for record in desk.listed()}
        tuesday, shipped, _ = (record["id"] for record in answer["records"])
        assert (records[question]["resolved_by"], records[tuesday]["resolves"]) == (tuesday, [question])
        assert (records[handoff]["resolved_by"], records[shipped]["resolves"]) == (shipped, [handoff])

    def test_one_may_replace_many_however_their_ids_are_sent(self, desk: Desk) -> None:
        ids = desk.ids(*(fact(f"Old {n}") for n in range(4)))
        answer = desk.record(
            fact("New", supersedes=[ids[0], ids[1], ids[1]]), fact("Newer", supersedes=json.dumps(ids[2:]))
        )
        assert answer["superseded"] == ids

    def test_chains_go_on_and_never_in_a_circle(self, desk: Desk) -> None:
        [a] = desk.ids(fact("A"))
        [b] = desk.ids(fact("B", supersedes=a))
        [c] = desk.ids(fact("C", supersedes=b))
        for name in (a, b):
            error = refused(desk, fact("D", supersedes=name))
            assert isinstance(error, ValidationFailed)
            assert list(error.fields) == ["items[0].supersedes"]
        assert isinstance(refused(desk, fact("C", supersedes=c)), ValidationFailed)
        [again] = desk.ids(fact("A", supersedes=c))
        assert again not in (a, b, c)
        assert [record["text"] for record in desk.listed(status="active")] == ["A"]

    def test_repeating_a_replacement_is_no_fault(self, desk: Desk) -> None:
        [a] = desk.ids(fact("A"))
        desk.record(fact("B", supersedes=a), text="first")
        answer = desk.record(fact("B", supersedes=a), text="second")
        assert (answer["superseded"], answer["records"][0]["outcome"]) == ([], "seen_again")

    def test_what_is_not_there_or_not_to_be_read_is_absent_in_the_same_bytes(self, desk: Desk) -> None:
        closed = desk.new_space("closed", visibility="members")
        hidden = ask(desk.cast.owner, "memory_record_summary", space_id="closed", items=[fact("Hidden")])
        foreign = ask(desk.cast.outsider, "memory_record_summary", items=[fact("Foreign")])
        ids = [hidden["records"][0]["id"], foreign["records"][0]["id"], typed_id("mem", new_id()), "nonsense"]
        errors = [refused(desk, fact("Fine"), fact("Bad", supersedes=id)) for id in ids]
        assert {json.dumps(error.body()) for error in errors} == {json.dumps(errors[0].body())}
        assert errors[0].details == {"item": "items[1].supersedes"}
        assert closed.slug == "closed"

    def test_what_may_only_be_read_is_forbidden(self, desk: Desk) -> None:
        space = desk.new_space("readable")
        [old] = [
            r["id"]
            for r in ask(desk.cast.owner, "memory_record_summary", space_id="readable", items=[fact("A")])[
                "records"
            ]
        ]
        with tenant(desk.cast.account.id):
            SpaceMember.objects.create(
                account=desk.cast.account, space=space, user_id=desk.actor.user_id, role="viewer"
            )
        assert isinstance(refused(desk, fact("B", supersedes=old)), Forbidden)

    def test_pointers_to_what_the_reader_may_not_see_are_left_out(self, desk: Desk) -> None:
        desk.new_space("closed", visibility="members")
        [old] = desk.ids(fact("A"))
        ask(desk.cast.owner, "memory_record_summary", space_id="closed", items=[fact("B", supersedes=old)])
        (record,) = desk.listed()
        assert (record["status"], "superseded_by" in record) == ("superseded", False)


class TestAllOrNothing:
    @pytest.mark.parametrize(
        ("bad", "field"),
        [
            ({"kind": "note", "text": "x"}, "items[1].kind"),
            ({"kind": "fact", "text": " "}, "items[1].text"),
            ({"kind": "fact", "text": "\u200b"}, "items[1].text"),
            ({"kind": "fact", "text": "x" * 2001}, "items[1].text"),
            ({"kind": "fact"}, "items[1].text"),
            ({"kind": "fact", "text": "x", "decided_by": "y" * 121}, "items[1].decided_by"),
            ({"kind": "fact", "text": "x", "topics": ["a", " "]}, "items[1].topics[1]"),
            ({"kind": "fact", "text": "x", "topics": [str(n) for n in range(21)]}, "items[1].topics"),
            ({"kind": "fact", "text": "x", "links": [{"type": "poem"}]}, "items[1].links[0].type"),
            ({"kind": "fact", "text": "x", "supersedes": ["mem_x"] * 21}, "items[1].supersedes"),
            ({"kind": "fact", "text": CHAT}, "items[1].text"),
        ],
    )
    def test_a_bad_item_fails_all_of_it_by_its_name(
        self, desk: Desk, bad: dict[str, Any], field: str
    ) -> None:
        error = refused(desk, fact("Fine"), bad, text="refused")
        assert isinstance(error, ValidationFailed)
        assert list(error.fields) == [field]

    def test_nothing_too_much_or_a_transcript_is_refused_and_never_cut(self, desk: Desk) -> None:
        for given, field in (
            ({}, "text"), ({"text": "  "}, "text"), ({"text": "x" * 8001}, "text"), ({"text": CHAT}, "text"),
            ({"items": [fact(f"f{n}") for n in range(51)]}, "items"), ({"text": "x", "trigger": "boredom"}, "trigger"),
        ):  # fmt: skip
            error = refused(desk, **given)
            assert isinstance(error, ValidationFailed)
            assert list(error.fields) == [field]
        desk.record(*(fact(f"f{n}") for n in range(50)), text="x" * 8000)

    def test_null_in_an_item_is_as_good_as_absent(self, desk: Desk) -> None:
        answer = desk.record(fact("Tea", decided_by=None, topics=None, links=None, supersedes=None))
        assert answer["records"][0]["outcome"] == "created"

    def test_items_may_come_as_text(self, desk: Desk) -> None:
        answer = ask(desk.actor, "memory_record_summary", items=json.dumps([fact("Tea")]))
        assert answer["records"][0]["outcome"] == "created"


class TestDuplicates:
    def test_the_same_within_a_day_adds_no_summary(self, desk: Desk) -> None:
        said: dict[str, Any] = {"text": "What we did", "agent": "a", "session": "s", "trigger": "end"}
        with time_machine.travel("2026-03-02T12:00Z", tick=False) as clock:
            first = desk.record(fact("Tea"), **said)
            clock.shift(timedelta(hours=23, minutes=59))
            again = desk.record(fact("Tea"), **said)
            assert (again["summary_id"], again["duplicate"]) == (first["summary_id"], True)
            assert again["records"] == [
                {"index": 0, "id": first["records"][0]["id"], "outcome": "seen_again", "seen_count": 2}
            ]
            clock.shift(timedelta(minutes=2))
            later = desk.record(fact("Tea"), **said)
            assert (later["duplicate"], later["summary_id"] != first["summary_id"]) == (False, True)

    @pytest.mark.parametrize(
        "other",
        [
            {"text": "x"},
            {"agent": "b"},
            {"session": "t"},
            {"trigger": "end"},
            {"space_id": ""},
            {"items": []},
        ],
    )
    def test_another_text_agent_session_trigger_place_or_content_is_another(
        self, desk: Desk, other: dict[str, Any]
    ) -> None:
        said: dict[str, Any] = {"items": [fact("Tea")], "text": "What we did", "agent": "a", "session": "s"}
        desk.record(**said)
        assert desk.record(**{**said, **other})["duplicate"] is False

    def test_a_repeat_brings_nothing_back_that_was_replaced_since(self, desk: Desk) -> None:
        [old] = desk.ids(fact("Tea at four"), text="x")
        desk.record(fact("Tea at five", supersedes=old))
        again = desk.record(fact("Tea at four"), text="x")
        assert (again["duplicate"], again["records"][0]["id"]) == (True, old)
        assert [record["text"] for record in desk.listed(status="active")] == ["Tea at five"]

    def test_a_repeat_keeps_anew_what_was_forgotten_since(self, desk: Desk) -> None:
        first, kept = desk.ids(fact("Tea"), fact("Cake"), text="x")
        ask_hub(desk.actor, "forget", ids=[first])
        again = desk.record(fact("Tea"), fact("Cake"), text="x")
        assert [r["outcome"] for r in again["records"]] == ["created", "seen_again"]
        (summary,) = ask(desk.actor, "memory_list_summaries")["summaries"]
        assert summary["records"] == [again["records"][0]["id"], kept]


def test_both_scopes_are_needed_for_each_call(desk: Desk) -> None:
    for kept in (Scope.MCP_READ, Scope.DECISIONS_READ):
        for name in ("memory_list_records", "memory_list_summaries", "decisions_list_spaces"):
            with pytest.raises(Forbidden):
                ask(desk.cast.key(scopes=frozenset({kept})), name)
    for kept in (Scope.MCP_WRITE, Scope.DECISIONS_WRITE):
        with pytest.raises(Forbidden) as caught:
            ask(desk.cast.key(scopes=frozenset({kept})), "memory_record_summary", text="x")
        assert len(caught.value.details["missing_scopes"]) == 1  # type: ignore[arg-type]


def test_a_call_tells_one_event_for_each_thing_that_happened(desk: Desk) -> None:
    [old] = desk.ids(fact("A"))
    with tenant(desk.cast.account.id):
        before = Event.objects.count()
        desk.record(fact("B", supersedes=old), text="x")
        types = list(Event.objects.order_by("id").values_list("type", flat=True)[before:])
    assert types == ["memory.created", "memory.superseded", "summary.recorded"]


class TestList:
    def test_goes_page_by_page_newest_first_and_narrows(self, desk: Desk) -> None:
        for n in range(5):
            desk.record(text=f"Said {n}", agent=f"a{n % 2}", session=f"s{n}")
        said, token = [], ""
        while not said or token:
            answer = ask(desk.actor, "memory_list_summaries", page_size=2, page_token=token)
            said += [summary["text"] for summary in answer["summaries"]]
            token = answer["next_page_token"]
        assert said == [f"Said {n}" for n in (4, 3, 2, 1, 0)]
        narrowed = ask(desk.actor, "memory_list_summaries", agent="a1", session="s3", space_id=desk.space)
        assert [summary["text"] for summary in narrowed["summaries"]] == ["Said 3"]

    def test_long_ones_are_cut_into_pages_and_none_is_lost(self, desk: Desk) -> None:
        for n in range(12):
            desk.record(text=f"{n:02}" + "x" * 7998)
        said, token, pages = [], "", 0
        while not pages or token:
            answer = ask(desk.actor, "memory_list_summaries", page_size=200, page_token=token)
            said += [summary["text"][:2] for summary in answer["summaries"]]
            token, pages = answer["next_page_token"], pages + 1
        assert (sorted(said), pages > 1) == ([f"{n:02}" for n in range(12)], True)

    def test_asks_no_more_for_three_than_for_one(self, desk: Desk) -> None:
        desk.record(fact("A"), text="1")
        for name in ("memory_list_summaries", "memory_list_records", "decisions_list_spaces"):
            one = queries(lambda name=name: ask(desk.actor, name))  # type: ignore[misc]
            if name == "memory_list_summaries":
                desk.record(fact("B"), fact("C"), text="2")
                desk.record(fact("D"), text="3")
            assert queries(lambda name=name: ask(desk.actor, name)) == one  # type: ignore[misc]


class TestOne:
    def test_is_read_whole_and_deleted_for_good_while_its_memories_stay(self, desk: Desk) -> None:
        answer = desk.record(fact("Tea"), text="x" * 8000)
        id = answer["summary_id"]
        assert ask(desk.actor, "summary_get", id=id)["summary"]["text"] == "x" * 8000
        assert ask(desk.actor, "summary_delete", id=id) == {"id": id, "deleted": True}
        with pytest.raises(NotFound):
            ask(desk.actor, "summary_get", id=id)
        assert len(desk.listed()) == 1


def test_a_summary_is_looked_up_and_fetched_by_who_may_read_it(desk: Desk) -> None:
    id = desk.record(text="We moved the harbour fees to March", session="fees")["summary_id"]
    search, fetch = REGISTRY.get("search", "connector"), REGISTRY.get("fetch", "connector")
    assert search is not None
    assert fetch is not None
    (found,) = search(desk.actor, {"query": "harbour fees"})["results"]
    assert (found["id"], found["url"].rpartition("/acme/")[2]) == (id, f"main/sessions/?summary={id}")
    assert fetch(desk.actor, {"id": id})["text"] == "We moved the harbour fees to March"
    half = desk.cast.key(scopes=desk.actor.scopes - {Scope.MCP_READ})
    assert search(half, {"query": "harbour fees"})["results"] == []
    for actor in (half, desk.cast.outsider):
        with pytest.raises(NotFound):
            fetch(actor, {"id": id})


def test_the_account_is_named_by_its_own_id_or_not_at_all(desk: Desk) -> None:
    own = typed_id("acc", desk.cast.account.id)
    ask(desk.actor, "memory_record_summary", items=[fact("Oolong")], account_id=own)
    for account in (own, ""):
        assert [r["text"] for r in ask(desk.actor, "memory_list_records", account_id=account)["records"]] == [
            "Oolong"
        ]
        assert desk.found("oolong", account_id=account) == ["Oolong"]


def test_spaces_are_listed_by_name_with_role_and_count(cast: Cast, desk: Desk) -> None:
    desk.new_space("alpha", description="First")
    desk.new_space("closed", visibility="members")
    desk.record(fact("A"), fact("B"))
    answer = ask(desk.actor, "decisions_list_spaces")
    assert [(s["name"], s["slug"], s["role"], s["record_count"]) for s in answer["spaces"]] == [
        ("Alpha", "alpha", "member", 0), ("Main", "main", "member", 2),
    ]  # fmt: skip
    assert answer["spaces"][0]["description"] == "First"
    first = ask(desk.actor, "decisions_list_spaces", page_size=1)
    rest = ask(desk.actor, "decisions_list_spaces", page_size=1, page_token=first["next_page_token"])
    assert [s["slug"] for s in rest["spaces"]] == ["main"]


def test_of_the_items_each_tells_what_was_cut_from_it(desk: Desk) -> None:
    key = expand("ghp_{crc:30}", Random(5))
    said = f"Ann uses {key} for the nightly deploys, and the night shift knows where it is kept."
    answer = desk.record(fact("Tea is at four"), fact(said), text="We set up the nightly deploys.")
    told = [{"category": "github_token", "count": 1}]
    assert [one.get("redactions", []) for one in answer["records"]] == [[], told]
    assert answer["redactions"] == told
