"""What people and agents type finds what was stored."""

import pytest

from tests.cases.hub import Agent, Hub, new_hub

EXACT = {
    "Ticket BENCH-100821 is about slow sums": ["100821", "bench 100821", "BENCH-100821"],
    "The client stops with exit code -32602": ["32602", "-32602"],
    "There is a bug in src/billing/invoice_utils.py line 42": [
        "invoice_utils.py",
        "invoice_utils",
        "line 42",
    ],
    "For the address see getUserById()": ["UserById", "getUserById", "user by id"],
    "PR #4521 renames the queue": ["4521", "#4521", "pr 4521"],
    "Money questions: ask ann@example.com": ["ann", "ann@example.com"],
    "We ship v1.2.10 next": ["v1.2.10", "1.2.10"],
    "The parser is written in C++": ["C++"],
    "The desktop tool is written in C#": ["C#"],
    "The service runs on .NET": [".NET", "net"],
}
ELSEWHERE = {
    "部署窗口是周二下午 docker": ["部署", "周二", "docker 部署"],
    "会議は火曜日": ["火曜", "会議"],
    "The Zürich office opens at nine": ["Zurich", "ZÜRICH", "zürich"],
    "Our İstanbul partner calls on Fridays": ["istanbul", "İstanbul", "ISTANBUL"],
    "الاجتماع يوم الثلاثاء": ["الثلاثاء"],
    "הפגישה ביום שלישי": ["שלישי"],
}


@pytest.fixture
def knowing(agent: Agent) -> Agent:
    for text in [*EXACT, *ELSEWHERE, "Deploy window is Tuesday 14:00 UTC"]:
        assert agent("remember", text=text)["created"] is True
    return agent


def first(agent: Agent, query: str) -> str:
    items = agent("recall", q=query)["items"]
    return items[0]["text"] if items else "nothing"


def test_numbers_names_and_addresses_find_their_fact_first(knowing: Agent) -> None:
    asked = {(text, query) for text, queries in {**EXACT, **ELSEWHERE}.items() for query in queries}
    found = {(text, query): first(knowing, query) for text, query in asked}
    assert {pair: text for pair, text in found.items() if text != pair[0]} == {}


def test_c_plus_plus_is_not_c_sharp(knowing: Agent) -> None:
    assert "The desktop tool is written in C#" not in [i["text"] for i in knowing("recall", q="C++")["items"]]


def test_a_question_in_plain_words_finds_the_fact(knowing: Agent) -> None:
    found = knowing("recall", q="why did we choose the deploy window")
    assert found["items"][0]["text"] == "Deploy window is Tuesday 14:00 UTC"


@pytest.mark.parametrize(
    "query", ["what is it about the", "", "   ", "???", "👍", "-", "\u200b", "' or 1=1", "&|!()<->:*"]
)
def test_a_query_without_a_telling_word_is_answered_and_never_a_fault(knowing: Agent, query: str) -> None:
    found = knowing("recall", q=query)
    assert found["search"] in ("words", "newest", "hybrid")
    assert found["count"] == len(found["items"])
    if not query.strip():
        assert (found["search"], found["count"]) == ("newest", min(20, len(EXACT) + len(ELSEWHERE) + 1))


def test_another_teams_facts_take_no_place(agent: Agent, hub: Hub) -> None:
    """A small team beside one that says the same much oftener gets all of its own, and a filter adds nothing."""
    big = new_hub(hub.app)
    crowd = Agent(big, "rest", big.key())
    items = [{"text": f"The harbour crane number {n} was oiled"} for n in range(100)]
    assert crowd("memory_batch", items=items)["created"] == 100
    for n in range(12):
        agent("remember", text=f"Crane {n} of ours stands in the harbour", tags=["ours"] if n < 5 else [])
    assert agent("recall", q="harbour crane", limit=10)["count"] == 10
    assert agent("recall", q="harbour crane", limit=100)["count"] == 12
    assert agent("recall", q="harbour crane", tag="ours", limit=100)["count"] == 5


def test_a_write_is_found_at_once_and_an_edit_by_its_new_words_alone(agent: Agent) -> None:
    rest = agent.having(wire="rest")
    id = agent("remember", text="The office dog is called Biscuit")["memory"]["id"]
    assert first(agent, "dog") == "The office dog is called Biscuit"
    rest("memory_update", id=id, text="Database failover takes 40 seconds")
    assert agent("recall", q="dog biscuit")["count"] == 0
    assert first(agent, "failover") == "Database failover takes 40 seconds"
