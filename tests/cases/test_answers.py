"""Answers keep to a size that clients can take, and what does not fit is reached page by page."""

import json

from tests.cases.hub import Agent

LIMIT = 60_000
SLACK = 400  # the frame around the items: counts, the notice, a cursor


def size(answer: object) -> int:
    return len(json.dumps(answer, ensure_ascii=False, separators=(",", ":")))


def test_a_hundred_long_memories_fit_and_say_that_they_are_cut(agent: Agent) -> None:
    for half in (range(50), range(50, 100)):
        items = [{"text": f"Harbour {n} " + "漢字" * 990} for n in half]
        assert agent.having(wire="rest")("memory_batch", items=items)["created"] == 50
    found = agent("recall", q="harbour", limit=100)
    assert size(found.body) <= LIMIT + SLACK
    assert all(item["truncated"] for item in found["items"])
    assert agent("recall", q="harbour", limit=5)["items"][0].get("truncated") is None


def test_two_thousand_values_fit_and_pages_lose_none(agent: Agent) -> None:
    rest = agent.having(wire="rest")
    agent.hub.rows(
        "insert into spaces_value (id, account_id, space_id, namespace, key, value, version, created_at,"
        " updated_at, written_by) select gen_random_uuid(), %s, %s, 'n', 'key ' || n, to_jsonb(repeat('x', 100)),"
        " 1, now(), now(), 'test' from generate_series(1, 2000) n",
        agent.hub.account.id,
        agent.hub.space.id,
    )
    if agent.wire == "mcp":
        whole = agent("kv_get", ns="n")
        assert size(whole.body) <= LIMIT + SLACK
        assert (whole["truncated"], whole["total"]) == (True, 2000)
    keys, cursor = [], None
    while cursor != "end":
        page = rest("kv_list", ns="n", limit=500, cursor=cursor)
        assert size(page.body) <= LIMIT + SLACK
        keys += [entry["key"] for entry in page["entries"]]
        cursor = page["next_cursor"] or "end"
    assert (len(keys), len(set(keys))) == (2000, 2000)


def test_large_records_come_page_by_page_and_none_is_lost(agent: Agent) -> None:
    for n in range(12):
        agent("record_put", collection="c", data={"n": n, "text": "x" * 20_000})
    seen, cursor = [], None
    while cursor != "end":
        page = agent("record_query", collection="c", limit=100, cursor=cursor)
        assert size(page.body) <= LIMIT + SLACK
        seen += [record["data"]["n"] for record in page["items"]]
        cursor = page["next_cursor"] or "end"
    assert sorted(seen) == list(range(12))


def test_a_context_keeps_to_its_budget_in_any_script_and_counts_what_it_leaves_out(agent: Agent) -> None:
    for n in range(12):
        agent("remember", text=f"{n} " + "漢字" * 300, tier="core")
        agent("record_put", collection="c", data={"n": n, "text": "語" * 900}, due_at="2020-01-01")
    for budget in (200, 4000, 20_000):
        context = agent("get_context", budget_chars=budget)
        told = [*context["core"], *(r for kind in context["records"].values() for r in kind)]
        assert sum(size(item) for item in told) <= context["budget"]["used"] <= budget
        assert len(told) + sum(context["budget"]["truncated"].values()) == 24


def test_a_long_list_of_actions_fits(agent: Agent) -> None:
    for n in range(8):
        agent(
            "action_propose",
            **{
                "class": "mail.send",
                "summary": "x" * 500,
                "payload": {"a": "y" * 30_000},
                "idempotency_key": str(n),
            },
        )
    listed = agent("action_list", limit=100)
    assert size(listed.body) <= LIMIT + SLACK
    assert len(listed["items"]) == 8
    assert [item["truncated"] for item in listed["items"] if "payload" not in item] != []
