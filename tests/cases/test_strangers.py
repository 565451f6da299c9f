"""Two teams with the same names for everything, and what the one can learn of the other: nothing."""

import json

import pytest

from tests.cases.hub import Agent, Hub, new_hub
from tests.cases.stage import proposed

WORD = "heliotrope"


@pytest.fixture
def stranger(agent: Agent, hub: Hub) -> Agent:
    """An agent of another team, asking in the same way."""
    other = new_hub(hub.app)
    return Agent(other, agent.wire, other.key())


def test_the_same_short_id_is_each_teams_own(agent: Agent, stranger: Agent) -> None:
    ours, theirs = proposed(agent, summary=WORD), proposed(stranger)
    assert ours["id"] == theirs["id"] == "A1"
    found = stranger.having(wire="rest")("action_get", id="A1")["action"]
    assert found["uid"] == theirs["uid"]
    moved = stranger("action_transition", id="A1", to="cancelled", **{"from": "pending"})
    assert moved["action"]["uid"] == theirs["uid"]
    assert agent("action_list")["items"][0]["status"] == "pending"


def test_what_one_team_said_is_new_from_another(agent: Agent, stranger: Agent) -> None:
    agent("remember", text=f"The {WORD} grows", tags=[WORD])
    said = stranger("remember", text=f"The {WORD} grows")
    assert (said["created"], said["memory"]["seen_count"], said["memory"].get("tags")) == (True, 1, None)


def test_lists_counts_searches_and_suggestions_hold_nothing_of_another_team(
    agent: Agent, stranger: Agent
) -> None:
    agent("remember", text=f"The {WORD} grows", subject=WORD, tags=[WORD], tier="core")
    agent("record_put", collection=WORD, key=WORD, data={"a": WORD}, due_at="2020-01-01")
    agent("journal_write", date="2026-03-02", summary=WORD)
    agent("kv_set", ns=WORD, key=WORD, value=WORD)
    proposed(agent, summary=WORD)
    rest = stranger.having(wire="rest")
    answers = [
        stranger("get_context", kv=WORD, journal_days=31),
        stranger("recall", q=WORD),
        stranger("recall"),
        stranger("record_query", collection=WORD),
        stranger("action_list"),
        stranger("forget", query=WORD, scopes=["memories", "records", "journal"], dry_run=True),
        rest("collection_list"),
        rest("journal_list"),
        rest("kv_list", ns=WORD),
        rest("event_list"),
        rest("whoami"),
        rest("space_get"),
    ]
    told = [json.dumps({n: v for n, v in a.body.items() if n not in ("ns", "kv")}) for a in answers]
    assert [text for text in told if WORD in text] == []
    assert answers[5]["matched"] == {"memories": 0, "records": 0, "journal": 0}


def test_an_id_of_another_team_in_a_condition_is_as_absent_as_none(agent: Agent, stranger: Agent) -> None:
    record = agent("record_put", collection="c")["record"]["id"]
    for id in (record, "rec_" + "0" * 32):
        action = proposed(stranger, preconditions={"records": {id: {"version": 1}}})
        assert action["preconditions"] == {"records": {id: {"version": 1}}}


def test_without_a_key_nothing_is_said_but_where_to_get_one(hub: Hub) -> None:
    for path in ("/v1/memories", "/v1/nothing", "/v1/memories/mem_1", "/v1/actions/A1"):
        answer = hub.app.request("GET", path)
        assert (answer.status_code, answer.json()["error"]["code"]) == (401, "unauthorized")
        assert "resource_metadata" in answer.headers["www-authenticate"]
