"""Listing and searching memories as records."""

import json
from datetime import timedelta
from typing import Any

import pytest
import time_machine

from memoryhub.common.errors import InvalidRequest, NotFound, ValidationFailed
from memoryhub.common.ids import new_id, typed_id
from memoryhub.common.tenancy import tenant
from spaces.domain.decisions import Wanted, search_records
from spaces.models import Memory
from tests.conftest import Cast
from tests.memoryhub.operations.decisions.conftest import Desk, ask, decision, fact
from tests.spaces.domain.search.engine import give_vectors, make_model, meaning_of
from tests.spaces.domain.search.memories import store

pytestmark = pytest.mark.django_db


class TestList:
    def test_is_newest_first_page_by_page(self, desk: Desk) -> None:
        for n in range(5):
            desk.record(fact(f"F{n}"))
        texts, token = [], ""
        while not texts or token:
            answer = ask(desk.actor, "memory_list_records", page_size=2, page_token=token)
            texts += [record["text"] for record in answer["records"]]
            token = answer["next_page_token"]
        assert texts == ["F4", "F3", "F2", "F1", "F0"]

    def test_narrows_by_each_filter(self, desk: Desk) -> None:
        desk.record(decision("D", topics=["auth"]), agent="claude", session="s1")
        desk.record(fact("F", topics=["authentication", "file:src/a.py"]), agent="codex", session="s2")
        desk.record(fact("W"), space_id="")
        for asked, texts in (
            ({"kind": "decision"}, ["D"]), ({"agent": "codex"}, ["F"]), ({"session": "s1"}, ["D"]),
            ({"topic": "auth"}, ["D"]), ({"topic": " file:src/a.py "}, ["F"]), ({"topic": "Auth"}, []),
            ({"space_id": desk.space}, ["F", "D"]), ({"status": "active"}, ["W", "F", "D"]),
            ({"status": "resolved"}, []),
        ):  # fmt: skip
            assert [record["text"] for record in desk.listed(**asked)] == texts, asked

    def test_covers_without_a_space_all_that_the_caller_reads(self, desk: Desk) -> None:
        desk.new_space("other")
        desk.new_space("closed", visibility="members")
        for space in ("main", "other", "closed", ""):
            ask(desk.cast.owner, "memory_record_summary", space_id=space, items=[fact(f"in {space}")])
        assert {record["text"] for record in desk.listed()} == {"in main", "in other", "in"}
        limited = desk.cast.key(space_ids=frozenset({desk.cast.space.id}))
        records = ask(limited, "memory_list_records")["records"]
        assert {record["text"] for record in records} == {"in main", "in"}

    def test_a_space_that_is_none_or_closed_is_absent_in_the_same_bytes(self, desk: Desk) -> None:
        closed = desk.new_space("closed", visibility="members")
        theirs = typed_id("spc", desk.cast.outsider_space.id)
        errors = set()
        for space in (typed_id("spc", closed.id), "closed", theirs, typed_id("spc", new_id()), "nonsense"):
            for name, given in (
                ("memory_list_records", {}), ("memory_list_summaries", {}),
                ("memory_search_records", {"query": "x"}), ("memory_record_summary", {"text": "x"}),
            ):  # fmt: skip
                with pytest.raises(NotFound) as caught:
                    ask(desk.actor, name, space_id=space, **given)
                errors.add(json.dumps(caught.value.body()))
        assert len(errors) == 1

    def test_refuses_what_no_record_can_have(self, desk: Desk) -> None:
        for asked in ({"kind": "rumour"}, {"status": "quarantined"}, {"status": "null"}, {"page_size": -1}):
            with pytest.raises(ValidationFailed):
                desk.listed(**asked)
        for token in ("nonsense", "null"):
            with pytest.raises(InvalidRequest):
                desk.listed(page_token=token)
        assert desk.listed(page_size=100_000, status=None, space_id=None) == []


class TestSearch:
    def test_finds_by_every_word_where_nothing_is_embedded(self, desk: Desk) -> None:
        desk.record(fact("Deploy window is Tuesday 14:00 UTC"), fact("The kitchen window", topics=["deploy"]))
        desk.record(fact("Deploy often"))
        assert set(desk.found("deploy window")) == {
            "Deploy window is Tuesday 14:00 UTC",
            "The kitchen window",
        }
        assert desk.found("deploy kitchen garden") == []
        assert desk.found("why did we choose the Tuesday deploy window") == [
            "Deploy window is Tuesday 14:00 UTC"
        ]
        assert desk.found("???") == desk.found("👍") == []

    def test_asks_after_nothing_get_the_newest(self, desk: Desk) -> None:
        desk.record(fact("One"))
        desk.record(fact("Two"))
        answer = ask(desk.actor, "memory_search_records", query="what is it about the")
        assert ([r["text"] for r in answer["records"]], answer["search"]) == (["Two", "One"], "newest")

    @pytest.mark.parametrize("query", ["", "   ", "x" * 201])
    def test_a_query_has_one_to_two_hundred_characters(self, desk: Desk, query: str) -> None:
        with pytest.raises(ValidationFailed) as caught:
            desk.found(query)
        assert list(caught.value.fields) == ["query"]

    def test_leaves_out_other_kinds_and_spaces(self, desk: Desk) -> None:
        desk.record(fact("Tea fact"), decision("Tea decision"))
        desk.record(fact("Tea for all"), space_id="")
        assert desk.found("tea", kind="decision") == ["Tea decision"]
        assert len(desk.found("tea")) == 3
        assert set(desk.found("tea", space_id=desk.space)) == {"Tea fact", "Tea decision"}
        assert len(desk.found("tea", page_size=1)) == 1

    def test_is_totally_ordered(self, cast: Cast) -> None:
        """Active before the rest, vectors before words alone, then score, then age."""
        with tenant(cast.account.id), time_machine.travel("2026-03-02T12:00Z", tick=False) as clock:
            model = make_model()

            def write(text: str, embedded: bool, **fields: Any) -> Memory:
                clock.shift(timedelta(seconds=1))
                (memory,) = store(cast.agent, cast.space, text, **fields)
                if embedded:
                    give_vectors(model, [memory])
                return memory

            best_words = write("dog biscuit dog biscuit", False)
            older, newer = write("dog one", True), write("dog one", True)
            best = write("dog biscuit", True)
            plain = write("dog biscuit and much else that is said at length", False)
            partial = write("biscuit without the animal", False)
            retired = write("dog biscuit", True, status="superseded")
            meaning = meaning_of(model, "dog biscuit")
            found = search_records(
                cast.agent, "dog biscuit", Wanted(), include_inactive=True, limit=50, meaning=meaning
            )
        order = [item.memory.id for item in found.items]
        assert order == [best.id, newer.id, older.id, best_words.id, plain.id, retired.id]
        assert partial.id not in order
        assert [item.match for item in found.items] == ["meaning"] * 3 + ["words"] * 2 + ["meaning"]
        assert found.mode == "hybrid"
