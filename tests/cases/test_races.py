"""Many at once, over the whole application: one winner, nothing lost, nothing done twice."""

from collections import Counter
from typing import Any

import pytest

from tests.cases.hub import Agent, Answer, Browser, Hub, at_once, new_hub
from tests.cases.stage import PAYLOAD, address, approved, move, propose, proposed, status

MANY = 20
EVENTS = "select type from accounts_event where object_id = %s order by id"


def test_of_many_who_approve_at_once_one_does(agent: Agent, hub: Hub, owner: Browser) -> None:
    """As by a double click, or in several tabs."""
    action = proposed(agent)
    page = address(agent, action)
    owner.get(page)
    form = {"csrfmiddlewaretoken": owner.token, "digest": action["digest"]}
    codes = at_once(MANY, lambda _: owner.send(f"{page}approve/", form).status_code)
    assert Counter(codes) == {302: 1, 409: MANY - 1}
    assert hub.rows(EVENTS, action["uid"]) == [("action.proposed",), ("action.approved",)]
    assert hub.rows("select count(*) from actions_approval") == [(1,)]


def test_approving_and_rejecting_at_once_have_one_outcome(agent: Agent, owner: Browser) -> None:
    action = proposed(agent)
    page = address(agent, action)
    owner.get(page)
    form = {"csrfmiddlewaretoken": owner.token, "digest": action["digest"]}
    codes = at_once(10, lambda n: owner.send(f"{page}{('approve', 'reject')[n % 2]}/", form).status_code)
    assert Counter(codes) == {302: 1, 409: 9}
    assert status(agent, action) in ("approved", "rejected")


def test_of_many_who_claim_at_once_one_carries_it_out(agent: Agent, hub: Hub, owner: Browser) -> None:
    action = approved(owner, agent)
    crowd = [agent.having(secret=hub.key()) for _ in range(MANY)]
    answers = at_once(MANY, lambda n: move(crowd[n], action, "approved", "executing"))
    assert Counter(a.code for a in answers) == {None: 1, "conflict": MANY - 1}
    losers = [a.error["details"] for a in answers if a.code]
    assert {(d["expected"], d["actual"], d["current"]["id"]) for d in losers} == {
        ("approved", "executing", "A1")
    }


def test_the_same_key_and_content_is_the_same_action_however_it_is_spelt(agent: Agent) -> None:
    first = propose(agent, idempotency_key="k", payload={"a": 1, "b": [True]})
    again = [
        propose(agent, idempotency_key="k", payload={"b": [True], "a": 1.0}),
        propose(agent, idempotency_key="k", payload={"a": 1, "b": [True]}, summary="Other words"),
        propose(agent, idempotency_key="k", payload={"a": 1, "b": [True]}, expires_at="2099-01-01"),
    ]
    ids = {a["action"]["uid"] for a in again if not a.code}
    assert (first["created"], ids) == (True, {first["action"]["uid"]})
    assert {a["created"] for a in again if not a.code} == {False}


@pytest.mark.parametrize(
    "change", [{"payload": {"text": "other"}}, {"class": "mail.send"}, {"payload": {"text": 1}}]
)
def test_the_same_key_with_other_content_is_refused_and_nothing_is_made(
    agent: Agent, hub: Hub, change: dict[str, Any]
) -> None:
    proposed(agent, idempotency_key="k")
    assert propose(agent, idempotency_key="k", **change).code == "idempotency_conflict"
    assert hub.rows("select count(*) from actions_action") == [(1,)]


def test_many_first_calls_with_one_key_make_one_action(agent: Agent, hub: Hub) -> None:
    answers = at_once(MANY, lambda _: propose(agent, idempotency_key="k"))
    assert Counter(a["created"] for a in answers) == {True: 1, False: MANY - 1}
    assert hub.rows("select number from actions_action") == [(1,)]


def test_a_key_belongs_to_its_space_and_outlives_its_action(agent: Agent, hub: Hub, owner: Browser) -> None:
    action = proposed(agent, idempotency_key="k")
    stranger = Agent(new_hub(hub.app), agent.wire, "")
    stranger = stranger.having(secret=stranger.hub.key())
    assert propose(stranger, idempotency_key="k")["created"] is True
    assert propose(agent.having(secret=hub.key("admin")), idempotency_key="k")["created"] is False
    owner.get(address(agent, action))
    owner.post(f"{address(agent, action)}reject/", reason="Not now")
    again = propose(agent, idempotency_key="k")
    assert (again["created"], again["action"]["status"], again["action"]["reason"]) == (
        False,
        "rejected",
        "Not now",
    )


def test_of_many_sets_of_one_version_one_wins_and_the_others_learn_the_version(agent: Agent) -> None:
    def sets(expected: int) -> list[Answer]:
        return at_once(MANY, lambda n: agent("kv_set", ns="n", key="new", value=n, expected_version=expected))

    for expected in (0, 1):
        answers = sets(expected)
        assert Counter(a.code for a in answers) == {None: 1, "conflict": MANY - 1}
        assert {a.error["details"]["actual"] for a in answers if a.code} == {expected + 1}


def test_of_many_updates_of_one_version_one_wins(agent: Agent) -> None:
    record = agent("record_put", collection="c", data={"n": -1})["record"]
    update = {"collection": "c", "id": record["id"], "expected_version": record["version"]}
    answers = at_once(MANY, lambda n: agent("record_update", **update, data={"n": n}))
    assert Counter(a.code for a in answers) == {None: 1, "conflict": MANY - 1}
    winner = next(n for n, a in enumerate(answers) if not a.code)
    (kept,) = agent("record_query", collection="c")["items"]
    assert (kept["data"], kept["version"]) == ({"n": winner}, 2)


def test_of_many_merges_into_the_journal_none_is_lost(agent: Agent) -> None:
    answers = at_once(
        MANY, lambda n: agent("journal_write", date="2026-03-02", summary=f"line {n}", merge=True)
    )
    assert Counter(a["created"] for a in answers) == {True: 1, False: MANY - 1}
    entry = agent.having(wire="rest")("journal_get", date="2026-03-02")["entry"]
    assert sorted(entry["summary"].splitlines()) == sorted(f"line {n}" for n in range(MANY))
    assert entry["version"] == MANY


def test_of_many_who_say_the_same_all_are_counted_in_one_memory(agent: Agent, hub: Hub) -> None:
    answers = at_once(MANY, lambda n: agent("remember", text="Ann likes tea", tags=[f"t{n % 10}"]))
    assert Counter(a["created"] for a in answers) == {True: 1, False: MANY - 1}
    assert hub.rows("select seen_count, cardinality(tags) from spaces_memory") == [(MANY, 10)]


def test_a_page_that_was_open_while_an_agent_wrote_shows_both_and_keeps_what_is_there(
    agent: Agent, hub: Hub, owner: Browser
) -> None:
    record = agent("record_put", collection="c", data={"n": 1})["record"]
    page = f"{hub.place}/records/in/c/{record['id']}/"
    owner.get(page)
    agent("record_update", collection="c", id=record["id"], data={"n": 2})
    answer = owner.post(page, status="open", content='{"n": 33}', version=1)
    assert answer.status_code == 409
    assert "33" in answer.text
    (kept,) = agent("record_query", collection="c")["items"]
    assert kept["data"] == {"n": 2}
    assert owner.post(page, status="open", content='{"n": 33}', version=2).status_code == 302


def test_deleting_and_creating_a_value_at_once_never_breaks(agent: Agent) -> None:
    rest = agent.having(wire="rest")
    agent("kv_set", ns="n", key="k", value=0)
    answers = at_once(
        MANY,
        lambda n: rest("kv_delete", ns="n", key="k") if n % 2 else agent("kv_set", ns="n", key="k", value=n),
    )
    assert {a.code for a in answers} <= {None, "not_found", "conflict"}


def test_work_is_queued_with_the_write_that_asks_for_it_and_not_without(agent: Agent, hub: Hub) -> None:
    jobs = "select count(*) from accounts_job where account_id = %s and kind = %s"
    propose(agent, payload={"a": "x" * 40_000})
    propose(agent, idempotency_key="")
    assert hub.rows(jobs, hub.account.id, "expire_action") == [(0,)]
    proposed(agent)
    assert hub.rows(jobs, hub.account.id, "expire_action") == [(1,)]
    assert propose(agent, payload=PAYLOAD, idempotency_key="again")["created"] is True
    assert hub.rows(jobs, hub.account.id, "expire_action") == [(2,)]
