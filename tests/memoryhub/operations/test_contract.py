"""What holds for every operation, read off the registry: a new one is held to it without a line here."""

import json
import os
import re
from pathlib import Path
from typing import Any

import jsonschema
import pytest

import memoryhub.operations.catalogue  # noqa: F401
from accounts.scopes import Scope
from memoryhub.common.errors import Forbidden, HubError, Unavailable
from memoryhub.operations.base import REGISTRY, Effect, Operation
from memoryhub.operations.fields import NOTICE
from tests.conftest import Cast

SNAPSHOTS = Path(__file__).parent / "snapshots"
EVERY = pytest.mark.parametrize("operation", REGISTRY.all(), ids=lambda o: f"{o.family}.{o.name}")
TOOLS = pytest.mark.parametrize("operation", REGISTRY.tools(), ids=lambda o: f"{o.family}.{o.name}")
GIVEN_METHODS = {"dream_next_job": "GET"}
"""Published so, although it may start a dream."""
CLIENT_PREFIX = "mcp__memory-hub__"

HUB = [
    "get_context",
    "remember",
    "recall",
    "forget",
    "journal_write",
    "record_put",
    "record_query",
    "record_update",
    "action_propose",
    "action_list",
    "action_transition",
    "kv_get",
    "kv_set",
    "dream_next_job",
    "dream_submit",
]

DECISIONS = [
    "memory_list_records",
    "memory_search_records",
    "memory_record_summary",
    "memory_list_summaries",
    "decisions_list_spaces",
]
PATHS = ["remember", "recall", "search_memory", "recall_context", "ledger"]


def nodes(schema: Any) -> list[dict[str, Any]]:
    if isinstance(schema, dict):
        return [schema, *(n for v in schema.values() for n in nodes(v))]
    return [n for v in schema for n in nodes(v)] if isinstance(schema, list) else []


def test_the_hub_family_has_exactly_its_tools() -> None:
    assert sorted(o.name for o in REGISTRY.tools("hub")) == sorted(HUB)


@TOOLS
def test_a_tool_reads_as_clients_need_it(operation: Operation) -> None:
    tool = operation.tool_json()
    assert re.fullmatch(r"[a-z0-9_]{1,40}", tool["name"])
    assert len(CLIENT_PREFIX + tool["name"]) <= 60
    assert tool["title"]
    assert 20 <= len(tool["description"]) < 2048
    hints = ("readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint")
    assert [type(tool["annotations"][h]) for h in hints] == [bool] * 4
    for schema in (tool["inputSchema"], tool["outputSchema"]):
        jsonschema.Draft202012Validator.check_schema(schema)
        assert schema["type"] == "object"
        for node in nodes(schema):
            assert not {"$ref", "$defs", "anyOf", "oneOf", "allOf"} & set(node), node
    for node in nodes(tool["inputSchema"]):
        assert not isinstance(node.get("type"), list), "an argument has one type"


@TOOLS
def test_a_tools_wire_form_is_the_one_kept(operation: Operation) -> None:
    """With UPDATE_SNAPSHOTS=1 the files are written anew: read the difference before committing it."""
    kept = SNAPSHOTS / f"{operation.family}.{operation.name}.json"
    form = json.dumps(operation.tool_json(), indent=1, ensure_ascii=False, sort_keys=True) + "\n"
    if os.environ.get("UPDATE_SNAPSHOTS"):
        kept.parent.mkdir(exist_ok=True)
        kept.write_text(form)
    assert kept.read_text() == form


def test_no_snapshot_is_left_of_a_tool_that_is_gone() -> None:
    assert {p.stem for p in SNAPSHOTS.glob("*.json")} == {f"{o.family}.{o.name}" for o in REGISTRY.tools()}


def test_the_decisions_family_has_exactly_its_tools() -> None:
    assert sorted(o.name for o in REGISTRY.tools("decisions")) == sorted(DECISIONS)


def test_the_paths_family_has_exactly_its_tools() -> None:
    assert sorted(o.name for o in REGISTRY.tools("paths")) == sorted(PATHS)


def test_the_hubs_list_of_tools_stays_small() -> None:
    listed = json.dumps([o.tool_json() for o in REGISTRY.tools("hub")], separators=(",", ":"))
    assert len(listed.encode()) <= 20_000


@pytest.mark.parametrize(
    "operation", [o for o in REGISTRY.all() if o.scopes], ids=lambda o: f"{o.family}.{o.name}"
)
def test_an_operation_without_its_scopes_is_forbidden_and_says_which(
    cast: Cast, operation: Operation
) -> None:
    with pytest.raises(Forbidden) as caught:
        operation(cast.key(scopes=frozenset()), {})
    assert caught.value.details == {"missing_scopes": [str(s) for s in operation.scopes]}


@EVERY
def test_an_operation_lists_the_scopes_it_needs(operation: Operation) -> None:
    assert operation.scopes or operation.name == "whoami"
    assert set(operation.scopes) <= set(Scope)


@EVERY
def test_null_in_an_optional_argument_is_the_same_as_leaving_it_out(operation: Operation) -> None:
    optional = set(operation.arguments) - set(operation.input_schema.get("required", []))
    sample = {n: example(s) for n, s in operation.arguments.items() if n not in optional}
    try:
        bare, _ = operation.read(sample)
    except HubError:
        pytest.skip("a valid call needs more than its required arguments")
    typed = {n: None for n in optional if "type" in operation.arguments[n]}
    assert operation.read(operation.tolerated({**sample, **typed}))[0] == bare


@EVERY
@pytest.mark.parametrize("sent", ["null", ["null"], {"null": 1}])
def test_null_as_text_in_any_argument_is_never_a_fault_of_ours(
    cast: Cast, operation: Operation, sent: Any
) -> None:
    answers = [status(operation, cast, {name: sent}) for name in operation.arguments]
    assert [a for a in answers if a >= 500 and a != Unavailable.status] == []


@EVERY
def test_what_nobody_can_store_is_refused_by_the_name_of_its_argument(operation: Operation) -> None:
    for name, schema in operation.arguments.items():
        for bad in ("a\0b", "half \ud83d"):
            with pytest.raises(HubError) as caught:
                operation.read({name: {bad: 1} if schema.get("type") == "object" else bad})
            assert name in str(caught.value.body())


@EVERY
def test_an_answer_that_holds_stored_text_says_that_it_is_data(operation: Operation) -> None:
    if "notice" in operation.output_schema["properties"]:
        assert operation.output_schema["properties"]["notice"]["default"] == NOTICE
        assert "data" in operation.description


@EVERY
def test_an_operation_over_rest_has_a_verb_that_fits_its_effect(operation: Operation) -> None:
    if operation.route:
        fitting = {
            Effect.READ: {"GET", "POST"},  # a whole message has no room in an address
            Effect.ADD: {"POST"},
            Effect.SET: {"PUT", "PATCH", "POST"},
            Effect.DESTROY: {"DELETE", "POST"},
        }
        method = GIVEN_METHODS.get(operation.name)
        assert method or operation.route.method in fitting[operation.effect]
        assert operation.route.method == (method or operation.route.method)


def status(operation: Operation, cast: Cast, raw: dict[str, Any]) -> int:
    try:
        operation(cast.agent, raw)
    except HubError as error:
        return error.status
    return 200


def example(schema: dict[str, Any]) -> Any:
    if "enum" in schema:
        return schema["enum"][0]
    if "pattern" in schema or schema.get("type") == "string":
        return "2026-11-30"
    return {"integer": 1, "number": 1, "boolean": True, "array": [], "object": {}}.get(
        schema.get("type", ""), "x"
    )
