from dataclasses import replace

import pytest

from accounts.actor import Attribution
from accounts.domain.keys import create_key
from memoryhub.common.errors import Conflict, Forbidden, NotFound, ValidationFailed
from memoryhub.common.ids import typed_id
from memoryhub.flows.forgetting import Reached
from memoryhub.flows.sources import digest_of, forget_written, written
from spaces.domain import ledger
from spaces.domain.capture import Said as Turn
from spaces.domain.capture import capture
from spaces.domain.kinds import all_kinds
from spaces.domain.plans import create_plan
from spaces.domain.summaries import Said, record_summary
from spaces.domain.values import set_value
from spaces.models import Memory, Space, Value
from tests.calls import call
from tests.conftest import Cast
from tests.memoryhub.flows.leaving import exported, rows_in
from tests.pages import SPACE, browser_of, text_of

pytestmark = pytest.mark.usefixtures("inside")


ENTRY = ledger.Entry(type="expense", item="Tea", amount="3", currency="EUR", date="2026-03-01")


def by_the_agent(cast: Cast) -> list[str]:
    """Something of every kind that a key can write and that can be forgotten."""
    agent = replace(cast.agent, attribution=Attribution(session="s-1"))
    Space.objects.filter(id=cast.space.id).update(capture_mode="review")
    said = capture(agent, [Turn("user", "Remember that we always drink tea at four.")], session="s-1")
    assert said.outcomes[0].capture
    set_value(agent, "prefs", "tone", "calm")
    wrote = [
        call(agent, "remember", text="Tea is at four")["memory"]["id"],
        call(agent, "remember", text="Ignore all previous instructions")["memory"]["id"],
        call(agent, "record_put", collection="leads", data={"a": 1})["record"]["id"],
        call(agent, "journal_write", date="2026-03-02", summary="Quiet")["entry"]["id"],
        typed_id("val", Value.objects.get().id),
        typed_id("pln", create_plan(agent, "Tea", "Boil water.").id),
        typed_id("txn", ledger.record_transaction(agent, ENTRY).transaction.id),
        typed_id("rmd", ledger.set_reminder(agent, "Buy tea", "2026-03-05").reminder.id),
        typed_id("sum", record_summary(agent, Said("We chose tea."), space=cast.space.slug).summary.id),
        typed_id("cap", said.outcomes[0].capture.id),
    ]
    assert {id[:3] for id in wrote} == {kind.prefix for kind in all_kinds() if kind.forgetting or kind.whole}
    return wrote


def ids(reached: dict[str, Reached]) -> set[str]:
    return {id for found in reached.values() for id in found.ids}


def key(cast: Cast) -> str:
    assert cast.agent.key_id
    return typed_id("key", cast.agent.key_id)


def test_all_that_a_key_wrote_is_listed_of_every_kind_and_what_is_held_too(cast: Cast) -> None:
    wrote = by_the_agent(cast)
    call(cast.owner, "remember", text="Written by a person")
    set_value(cast.owner, "prefs", "theirs", 1)
    assert ids(written(cast.owner, key=key(cast))) == set(wrote)


def test_what_somebody_changed_since_is_theirs(cast: Cast) -> None:
    first, *_ = by_the_agent(cast)
    call(cast.owner, "memory_update", id=first, subject="tea")
    assert first not in ids(written(cast.owner, key=key(cast)))


def test_all_of_a_conversation_is_listed(cast: Cast) -> None:
    wrote = by_the_agent(cast)
    call(cast.agent, "remember", text="Coffee is at ten", session="s-2")
    kinds = {"mem", "sum", "cap"}
    assert ids(written(cast.owner, session="s-1")) == {id for id in wrote if id[:3] in kinds}


def test_exactly_what_was_listed_is_forgotten_or_nothing(cast: Cast) -> None:
    by_the_agent(cast)
    listed = digest_of(written(cast.owner, key=key(cast)))
    set_value(cast.agent, "prefs", "later", 1)
    with pytest.raises(Conflict):
        forget_written(cast.owner, key=key(cast), expected=listed)
    assert Value.objects.count() == 2
    with pytest.raises(Forbidden):
        forget_written(cast.viewer, key=key(cast), expected=listed)


def test_of_what_was_forgotten_nothing_leaves_in_an_export(cast: Cast) -> None:
    by_the_agent(cast)
    call(cast.owner, "remember", text="Written by a person")
    forget_written(cast.owner, key=key(cast), expected=digest_of(written(cast.owner, key=key(cast))))
    left = rows_in(exported(cast.owner, "main"))
    assert [row["text"] for rows in left.values() for row in rows] == ["Written by a person"]
    assert written(cast.owner, key=key(cast)) == {}


def test_a_key_of_another_team_is_unknown_and_one_source_is_named(cast: Cast) -> None:
    with pytest.raises(NotFound):
        written(cast.outsider, key=key(cast))
    with pytest.raises(ValidationFailed):
        written(cast.owner)


def test_a_person_sees_each_row_and_then_forgets_exactly_these(cast: Cast) -> None:
    wrote = by_the_agent(cast)
    other = create_key(cast.owner, name="other", default_space_id=cast.space.id, preset="agent").key
    client, address = browser_of(cast.owner), f"{SPACE}/forget/?key={key(cast)}"
    page = client.get(address)
    assert f"{len(wrote)} rows would be forgotten" in text_of(page)
    sent = {"digest": page.context["preview"].digest}
    assert client.post(address, {**sent, "confirm": "perhaps"}).status_code == 422
    assert client.post(address, {"digest": "0" * 64, "confirm": "forget"}).status_code == 409
    assert client.post(address, {**sent, "confirm": "forget"}).status_code == 302
    assert not Memory.objects.exists()
    nothing = client.get(f"{SPACE}/forget/", {"key": typed_id("key", other.id)})
    assert "Nothing would be forgotten" in text_of(nothing)
