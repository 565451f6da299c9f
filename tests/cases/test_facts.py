"""The same fact again, its opposite, its change, and what is left of one that is forgotten."""

import pytest

from tests.cases.hub import Agent, Hub

LIKES, HATES = "Ana likes Chinese food", "Ana hates Chinese food"


def texts(agent: Agent, query: str = "chinese food") -> list[str]:
    return sorted(item["text"] for item in agent("recall", q=query)["items"])


def test_the_same_fact_three_times_is_one_that_was_seen_three_times(agent: Agent) -> None:
    said = [agent("remember", text=text) for text in (LIKES, f"  {LIKES.upper()}. ", LIKES)]
    assert [s["created"] for s in said] == [True, False, False]
    assert {s["memory"]["id"] for s in said} == {said[0]["memory"]["id"]}
    assert said[2]["memory"]["seen_count"] == 3
    assert texts(agent) == [LIKES]


def test_the_opposite_takes_nothing_away(agent: Agent) -> None:
    agent("remember", text=LIKES)
    assert agent("remember", text=HATES)["created"] is True
    assert texts(agent) == [HATES, LIKES]


def test_another_fact_about_the_same_person_leaves_the_rest_alone(agent: Agent) -> None:
    facts = ["Ana is CTO at Initech", "Ana lives in Porto", "Ana administers the GitHub org"]
    for fact in facts:
        agent("remember", text=fact, subject="Ana", origin="user")
    assert texts(agent, "ana") == sorted(facts)


def test_an_edit_into_what_is_there_already_changes_neither(agent: Agent) -> None:
    rest = agent.having(wire="rest")
    first = agent("remember", text=LIKES)["memory"]["id"]
    second = agent("remember", text=HATES)["memory"]["id"]
    refusal = rest("memory_update", id=second, text=LIKES)
    assert (refusal.code, refusal.error["details"]["current"]["id"]) == ("conflict", first)
    assert texts(agent) == [HATES, LIKES]


@pytest.mark.parametrize("by", ["id", "query"])
def test_nothing_of_what_is_forgotten_is_left_in_any_table(agent: Agent, hub: Hub, by: str) -> None:
    """Not in earlier versions, not in what is searched, not among the events."""
    rest, word = agent.having(wire="rest"), "heliotrope"
    id = agent("remember", text=f"The {word} grows", subject=word, tags=[word])["memory"]["id"]
    rest("memory_update", id=id, text=f"The {word} grows tall", metadata={"plant": word})
    rest("memory_update", id=id, subject=word.upper())
    agent("record_put", collection="plants", key=word, data={"name": word})
    agent("journal_write", date="2026-03-02", summary=f"Saw a {word} today.", decisions=[f"Buy a {word}"])
    agent("journal_write", date="2026-03-02", summary=f"Saw a {word} again.", decisions=["Buy none"])
    assert places_of(hub, word) != set()
    scopes = ["memories", "records", "journal"]
    arguments = {"ids": [id]} if by == "id" else {"query": word}
    assert agent("forget", **arguments, scopes=scopes)["deleted"]["memories"] == 1
    if by == "id":
        agent("forget", query=word, scopes=["records", "journal"])
    assert places_of(hub, word) == set()
    assert rest("journal_get", date="2026-03-02")["entry"]["decisions"] == ["Buy none"]
    assert agent("recall", q=word)["count"] == 0


def places_of(hub: Hub, word: str) -> set[str]:
    """Every column of every table that says it in any form, of this account or of none."""
    columns = hub.rows(
        "select c.table_name, c.column_name from information_schema.columns c join information_schema.tables t"
        " using (table_schema, table_name) where c.table_schema = 'public' and t.table_type = 'BASE TABLE'"
    )
    by_table: dict[str, list[str]] = {}
    for table, column in columns:
        by_table.setdefault(table, []).append(column)
    found: set[str] = set()
    for table, names in by_table.items():
        checks = ", ".join(f"bool_or(\"{name}\"::text ilike '%%{word}%%')" for name in names)
        (row,) = hub.rows(f"select {checks} from {table}")
        found |= {f"{table}.{name}" for name, holds in zip(names, row, strict=True) if holds}
    return found


def test_what_was_forgotten_may_be_said_again_as_new(agent: Agent) -> None:
    id = agent("remember", text=LIKES)["memory"]["id"]
    agent("forget", ids=[id])
    again = agent("remember", text=LIKES)
    assert (again["created"], again["memory"]["seen_count"]) == (True, 1)


@pytest.mark.parametrize("wrong", ["mem_" + "0" * 32, "nonsense", ""])
def test_one_id_that_is_none_keeps_all_of_them(agent: Agent, wrong: str) -> None:
    id = agent("remember", text=LIKES)["memory"]["id"]
    assert agent("forget", ids=[id, wrong]).code == "not_found"
    assert texts(agent) == [LIKES]
