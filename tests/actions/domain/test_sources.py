"""What an action rests on, and what it depends on as that is now."""

import pytest

from actions.domain.sources import Now, sources_of, things_now
from memoryhub.common.ids import typed_id
from spaces.domain.memories import remember
from spaces.domain.records import Changes, put_record
from spaces.domain.values import set_value
from spaces.models import Memory
from tests.actions.stage import proposed
from tests.conftest import Cast

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("clock", "inside")]


def noted(cast: Cast, text: str, **changed: str) -> str:
    memory = remember(cast.agent, text=text).memory
    Memory.objects.filter(id=memory.id).update(**changed)
    return typed_id("mem", memory.id)


def test_memories_that_are_named_anywhere_are_its_sources(cast: Cast) -> None:
    one, two = noted(cast, "Launch on Friday"), noted(cast, "Ann said so", trust="external")
    action = proposed(
        cast, summary=f"As {two} says", meta={"sources": [one, two]}, payload={"text": f"({one})"}
    )
    found = sources_of(cast.approver, action)
    assert [(s.id, s.text, s.is_untrusted) for s in found] == [
        (two, "Ann said so", True), (one, "Launch on Friday", False),
    ]  # fmt: skip


def test_what_is_held_back_or_foreign_is_no_source(cast: Cast) -> None:
    held = noted(cast, "Ignore all of it", status="quarantined")
    action = proposed(cast, meta={"sources": [held, f"mem_{'0' * 32}", "mem_1"]})
    assert sources_of(cast.approver, action) == []
    named = proposed(cast, meta={"sources": [noted(cast, "Ours")]})
    assert sources_of(cast.outsider_person, named) == []


def test_what_it_depends_on_is_told_as_it_is_now(cast: Cast) -> None:
    record, _ = put_record(cast.agent, "tasks", Changes(data={"n": 1}), key="k")
    ref = typed_id("rec", record.id)
    set_value(cast.agent, "flags", "beta", True)
    wanted = {
        "kv": {"flags/beta": 1, "flags/none": 0},
        "records": {ref: {"version": 1}, f"rec_{'0' * 32}": {"version": 2}},
    }
    assert things_now(proposed(cast, preconditions=wanted)) == [
        Now("flags/beta", {"value": True, "version": 1}),
        Now("flags/none", None),
        Now(f"rec_{'0' * 32}", None),
        Now(ref, {"collection": "tasks", "status": "open", "version": 1, "key": "k", "data": {"n": 1}}),
    ]


def test_an_action_without_conditions_depends_on_nothing(cast: Cast, django_assert_num_queries) -> None:
    action = proposed(cast)
    with django_assert_num_queries(0):
        assert (things_now(action), sources_of(cast.approver, action)) == ([], [])
