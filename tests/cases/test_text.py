"""Text that no database or no client can hold, and text that is larger than it may be."""

import json
from typing import Any

import pytest

from tests.cases.hub import Agent, Browser, Hub
from tests.wire import as_request, find

NUL, HALF = "a\0b", "ok \ud83d"
PROPOSAL = {"class": "mail.send", "summary": "Send it", "payload": {"to": "ann"}, "idempotency_key": "k"}

# Every place where a writer puts text: (operation, its other arguments, argument, how the text sits in it).
PLACES: dict[str, tuple[str, dict[str, Any], str, Any]] = {
    "text": ("remember", {}, "text", "{}"),
    "subject": ("remember", {"text": "x"}, "subject", "{}"),
    "tags": ("remember", {"text": "x"}, "tags", ["{}"]),
    "source_ref": ("remember", {"text": "x"}, "source_ref", "{}"),
    "summary": ("journal_write", {"date": "2026-03-02"}, "summary", "{}"),
    "decisions": ("journal_write", {"date": "2026-03-02"}, "decisions", ["good", "{}"]),
    "open_loops": ("journal_write", {"date": "2026-03-02"}, "open_loops", ["{}"]),
    "data": ("record_put", {"collection": "c"}, "data", {"a": [{"b": "{}"}]}),
    "a key of data": ("record_put", {"collection": "c"}, "data", {"{}": 1}),
    "a record's key": ("record_put", {"collection": "c"}, "key", "{}"),
    "collection": ("record_put", {}, "collection", "{}"),
    "status": ("record_put", {"collection": "c"}, "status", "{}"),
    "value": ("kv_set", {"ns": "n", "key": "k"}, "value", {"a": "{}"}),
    "a plain value": ("kv_set", {"ns": "n", "key": "k"}, "value", "{}"),
    "ns": ("kv_set", {"key": "k", "value": 1}, "ns", "{}"),
    "key": ("kv_set", {"ns": "n", "value": 1}, "key", "{}"),
    "summary of an action": ("action_propose", PROPOSAL, "summary", "{}"),
    "payload": ("action_propose", PROPOSAL, "payload", {"a": {"b": ["{}"]}}),
    "a key of payload": ("action_propose", PROPOSAL, "payload", {"a": {"{}": 1}}),
    "meta": ("action_propose", PROPOSAL, "meta", {"a": "{}"}),
    "preconditions": ("action_propose", PROPOSAL, "preconditions", {"a": "{}"}),
    "idempotency_key": ("action_propose", PROPOSAL, "idempotency_key", "{}"),
    "q": ("recall", {}, "q", "{}"),
    "query": ("forget", {}, "query", "{}"),
    "kv": ("get_context", {}, "kv", "{}"),
}


def put(text: str, into: Any) -> Any:
    if isinstance(into, dict):
        return {key.replace("{}", text): put(text, value) for key, value in into.items()}
    if isinstance(into, list):
        return [put(text, value) for value in into]
    return into.replace("{}", text) if isinstance(into, str) else into


@pytest.mark.parametrize("place", PLACES)
def test_what_can_not_be_stored_is_refused_by_the_name_of_its_field(agent: Agent, place: str) -> None:
    name, others, argument, into = PLACES[place]
    for bad in (NUL, HALF):
        refusal = agent(name, **{**others, argument: put(bad, into)})
        assert refusal.status in (400, 422), refusal
        assert argument in refusal.error["message"] or in_address(agent, name, argument)
        assert "\0" not in json.dumps(refusal.body)


def in_address(agent: Agent, name: str, argument: str) -> bool:
    """What stands in the address is refused as the whole that it is part of."""
    route = find(name).route
    assert route is not None
    return agent.wire == "rest" and (route.method == "GET" or f"{{{argument}" in route.path)


@pytest.mark.parametrize("number", ["NaN", "Infinity", "-Infinity", "1e999"])
@pytest.mark.parametrize("place", ["data", "value", "payload", "meta"])
def test_a_number_that_json_does_not_have_is_refused(agent: Agent, place: str, number: str) -> None:
    name, others, argument, _ = PLACES[place]
    arguments = {**others, argument: {"n": "@"}}
    if agent.wire == "rest":
        method, path, body = as_request(name, arguments)
        refusal = agent.send(method, path, body.replace(b'"@"', number.encode()))
        assert (refusal.status, refusal.code) == (400, "invalid_request")
    else:
        call = {
            "jsonrpc": "2.0",
            "id": 1,
            "method": "tools/call",
            "params": {"name": name, "arguments": arguments},
        }
        answer = agent.post(json.dumps(call).replace('"@"', number).encode())
        said = answer.json()
        assert said.get("error", {}).get("code") == -32700 or said["result"]["isError"] is True


def test_of_ten_with_one_that_is_no_good_nine_are_stored(hub: Hub) -> None:
    items = [{"text": f"Fact number {n}"} for n in range(9)] + [{"text": "half \ud83d"}]
    outcome = Agent(hub, "rest", hub.key())("memory_batch", items=items)
    assert (outcome["created"], outcome["refused"]) == (9, 1)
    assert outcome["items"][9]["error"]["details"]["fields"] == {"text": [SURROGATE]}


SURROGATE = "Must not contain half of a surrogate pair. Send valid Unicode."
FAMILY = "\U0001f468\u200d\U0001f469\u200d\U0001f467"


def test_emoji_and_any_script_come_back_as_they_were_sent(agent: Agent) -> None:
    for text in (
        FAMILY,
        "e\u0301",
        "שלום עולם",
        "مرحبا",
        "部署窗口",
        "\U000103a0",
        "a\u202eb",
        "tab\tand\nline",
    ):
        assert agent("kv_set", ns="n", key="k", value={text: text})["version"] >= 1
        assert agent("kv_get", ns="n", key="k")["value"] == {text: text}


@pytest.mark.parametrize(
    "key", ["a/b", "a\nb", "/", "//", "..", "a?b#c", "%2F", "a b", " ", "\u00fc", FAMILY, "."]
)
def test_a_key_is_any_text_and_found_by_it_again(agent: Agent, key: str) -> None:
    if agent.wire == "rest" and key in (".", ".."):
        pytest.skip("clients take these out of an address before they send it")
    assert agent("kv_set", ns="n", key=key, value={"k": key})["key"] == key
    assert agent("kv_get", ns="n", key=key)["value"] == {"k": key}
    assert [e["key"] for e in agent.having(wire="rest")("kv_list", ns="n")["entries"]] == [key]


def test_a_page_cuts_no_emoji_in_two(hub: Hub, owner: Browser) -> None:
    agent = Agent(hub, "rest", hub.key())
    for lead in range(6):
        agent("journal_write", date=f"2026-03-0{lead + 1}", summary="x" * lead + FAMILY * 60)
        agent("remember", text="y" * lead + FAMILY * 60)
    for page in ("journal/", "memories/", "inbox/"):
        text = owner.get(f"{hub.place}/{page}").text
        assert "\ufffd" not in text
        assert "\u200d\u2026" not in text


@pytest.mark.parametrize(
    ("name", "arguments", "argument"),
    [
        ("remember", {"text": "x" * 2001}, "text"),
        ("remember", {"text": "x", "subject": "x" * 100_000}, "subject"),
        ("remember", {"text": "x", "tags": ["x"] * 10_000}, "tags"),
        ("remember", {"text": "x", "tags": ["x" * 51]}, "tags[0]"),
        ("journal_write", {"date": "2026-03-02", "summary": "x" * 900_000}, "summary"),
        ("record_put", {"collection": "c", "key": "x" * 100_000}, "key"),
        ("record_put", {"collection": "x" * 65}, "collection"),
        ("kv_set", {"ns": "n", "key": "x" * 100_000, "value": 1}, "key"),
        ("action_propose", {**PROPOSAL, "idempotency_key": "x" * 100_000}, "idempotency_key"),
        ("action_propose", {**PROPOSAL, "summary": "x" * 501}, "summary"),
        ("forget", {"ids": ["mem_1"] * 10_000}, "ids"),
    ],
)
def test_what_is_too_long_is_refused_by_the_name_of_its_field(
    agent: Agent, name: str, arguments: dict[str, Any], argument: str
) -> None:
    if agent.wire == "rest" and "key" in argument and name == "kv_set":
        arguments = {**arguments, "key": "x" * 200}
    refusal = agent(name, **arguments)
    assert (refusal.code, refusal.fields) == ("validation_failed", [argument])


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("record_put", {"collection": "c", "data": {"a": "x" * 40_000}}),
        ("kv_set", {"ns": "n", "key": "k", "value": "x" * 80_000}),
        ("action_propose", {**PROPOSAL, "payload": {"a": "x" * 40_000}}),
    ],
)
def test_an_object_over_its_size_is_too_large(agent: Agent, name: str, arguments: dict[str, Any]) -> None:
    refusal = agent(name, **arguments)
    assert (refusal.status, refusal.code) == (413, "payload_too_large")


def test_a_body_over_its_size_is_too_large(agent: Agent) -> None:
    if agent.wire == "rest":
        answer = agent("record_put", collection="c", data={"a": "x" * 5_000_000})
        assert (answer.status, answer.code) == (413, "payload_too_large")
    else:
        answer = agent.post(b'{"a": "' + b"x" * 5_000_000 + b'"}')
        assert (answer.status_code, answer.json()["error"]["code"]) == (413, "payload_too_large")


@pytest.mark.parametrize("depth", [65, 2000])
def test_json_that_is_too_deep_is_refused(agent: Agent, depth: int) -> None:
    deep: Any = 1
    for _ in range(min(depth, 900)):
        deep = {"a": deep}
    refusal = agent("kv_set", ns="n", key="k", value=deep)
    assert refusal.status in (400, 422)


def test_words_of_any_length_and_number_break_no_index(agent: Agent) -> None:
    hashes = " ".join(f"{n:064x}" for n in range(30))
    assert agent("remember", text=hashes)["created"] is True
    assert agent("record_put", collection="c", data={"log": "\n".join(f"{n:064x}" for n in range(480))})[
        "created"
    ]
    assert agent("recall", q=f"{29:064x}")["count"] == 1
    assert agent("record_put", collection="c", key="\u00e9" * 200)["created"] is True


@pytest.mark.parametrize("text", ["", "   ", "\u200b", "\n\t", "\u2060\ufeff", "\u3164"])
def test_text_that_shows_nothing_is_no_memory(agent: Agent, text: str) -> None:
    assert agent("remember", text=text).fields == ["text"]
