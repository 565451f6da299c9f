from dataclasses import replace
from typing import Annotated, Any, Literal

import pytest
from django.db import connection
from pydantic import BaseModel, Field

from accounts.actor import Actor
from accounts.scopes import Scope
from memoryhub.common.errors import Forbidden, HubError, InvalidRequest, ValidationFailed
from memoryhub.operations.base import Effect, Input, Operation, Output, Registry, Route
from memoryhub.operations.fields import Maybe
from tests.conftest import Cast


class Detail(BaseModel):
    note: str | None
    size: int = 0


class EchoInput(Input):
    text: Annotated[str, Field(min_length=1, max_length=10)]
    kind: Literal["day", "week"] = "day"
    count: Annotated[int, Field(ge=1, le=100)] = 20
    tags: list[str] | None = None
    value: Any = None


class Echo(Output):
    said: EchoInput
    account: str
    detail: Detail
    next_cursor: str | None = None
    quiet: Maybe[str] = None


def echo(actor: Actor, args: EchoInput) -> Echo:
    with connection.cursor() as cursor:
        cursor.execute("select current_setting('hub.account_id', true)")
        account = cursor.fetchone()[0]
    return Echo(said=args, account=account, detail=Detail(note=None))


ECHO = Operation(
    name="echo",
    family="hub",
    title="Echo",
    description="Say it again.",
    ways=((Scope.MEMORY_READ, Scope.SPACE_READ),),
    effect=Effect.READ,
    route=Route("GET", "echo"),
    handler=echo,
    input=EchoInput,
    output=Echo,
)


def refusal(operation: Operation, actor: Actor, raw: dict[str, Any]) -> HubError:
    with pytest.raises(HubError) as caught:
        operation(actor, raw)
    return caught.value


def test_an_operation_runs_inside_the_actors_account_and_answers_plain_json(cast: Cast) -> None:
    answer = ECHO(cast.agent, {"text": "hi", "value": {"a": None}})
    assert answer == {
        "said": {"text": "hi", "kind": "day", "count": 20, "tags": None, "value": {"a": None}},
        "account": str(cast.account.id),
        "detail": {"note": None, "size": 0},
        "next_cursor": None,
    }


def test_an_operation_that_asks_first_leaves_the_account_for_its_call_to_open(cast: Cast) -> None:
    answer = replace(ECHO, asks_first=True)(cast.agent, {"text": "hi"})
    assert answer["account"] == ""


def test_missing_scopes_are_named(cast: Cast) -> None:
    error = refusal(ECHO, cast.key(scopes=frozenset({Scope.MEMORY_READ})), {"text": "hi"})
    assert isinstance(error, Forbidden)
    assert error.details == {"missing_scopes": ["space:read"]}


def test_one_of_several_scopes_is_enough_where_the_operation_says_so(cast: Cast) -> None:
    together = (Scope.MCP_READ, Scope.DECISIONS_READ)
    either = replace(ECHO, ways=((Scope.MEMORY_READ,), (Scope.SPACE_READ,), together))
    for enough in ((Scope.SPACE_READ,), together):
        assert either(cast.key(scopes=frozenset(enough)), {"text": "hi"})
    error = refusal(either, cast.key(scopes=frozenset({Scope.MCP_READ})), {"text": "hi"})
    assert error.message.endswith("memory:read or space:read or mcp:read with decisions:read.")
    assert error.details == {"missing_scopes": ["memory:read", "space:read", "decisions:read"]}


def test_scopes_are_checked_before_the_arguments(cast: Cast) -> None:
    assert isinstance(refusal(ECHO, cast.key(scopes=frozenset()), {"text": 5}), Forbidden)


def test_reading_adding_and_setting_ignore_unknown_arguments_and_say_so(cast: Cast) -> None:
    for effect in (Effect.READ, Effect.ADD, Effect.SET):
        answer = replace(ECHO, effect=effect)(cast.agent, {"text": "hi", "task_progress": "- [ ] step"})
        assert answer["warnings"] == ["Ignored unknown argument: task_progress"]


def test_what_is_missing_is_told_with_the_unknown_name_it_may_be_under(cast: Cast) -> None:
    error = refusal(ECHO, cast.agent, {"txt": "hi"})
    assert error.message == "text: Is required. Send it. Not known here: txt."
    assert error.details == {"fields": {"text": ["Is required. Send it."]}, "unknown": ["txt"]}
    assert "unknown" not in refusal(ECHO, cast.agent, {}).details


def test_destroying_refuses_unknown_arguments(cast: Cast) -> None:
    error = refusal(replace(ECHO, effect=Effect.DESTROY), cast.agent, {"text": "hi", "dryrun": True})
    assert isinstance(error, InvalidRequest)
    assert error.details == {"unknown": ["dryrun"]}


@pytest.mark.parametrize(
    ("raw", "kind", "field"),
    [
        ({}, ValidationFailed, "text"),
        ({"text": None}, ValidationFailed, "text"),
        ({"text": ""}, ValidationFailed, "text"),
        ({"text": "x" * 11}, ValidationFailed, "text"),
        ({"text": "x", "kind": "month"}, ValidationFailed, "kind"),
        ({"text": "x", "count": 0}, ValidationFailed, "count"),
        ({"text": "x", "count": "many"}, InvalidRequest, "count"),
        ({"text": "x", "count": True}, InvalidRequest, "count"),
        ({"text": 5}, InvalidRequest, "text"),
        ({"text": "x", "tags": "a,b"}, InvalidRequest, "tags"),
        ({"text": "x", "tags": ["a", 5]}, InvalidRequest, "tags[1]"),
        ({"text": "a\0b"}, ValidationFailed, "text"),
        ({"text": "x", "tags": '["a\\u0000b"]'}, ValidationFailed, "tags[0]"),
        ({"text": "x", "value": {"k\0": 1}}, ValidationFailed, None),
        ({"text": "x", "value": [float("nan")]}, ValidationFailed, "value[0]"),
        ({"text": "x", "value": "ok \ud83d"}, ValidationFailed, "value"),
    ],
)
def test_a_bad_argument_is_named(
    cast: Cast, raw: dict[str, Any], kind: type[HubError], field: str | None
) -> None:
    error = refusal(ECHO, cast.agent, raw)
    assert type(error) is kind
    fields = error.details["fields"]
    assert isinstance(fields, dict)
    assert len(fields) == 1
    assert field is None or list(fields) == [field]


def test_a_refusal_never_repeats_what_was_sent(cast: Cast) -> None:
    for raw in (
        {"text": "tell nobody, ever"},
        {"text": "x", "kind": "tell nobody"},
        {"text": "x", "count": "tell"},
    ):
        assert "tell" not in str(refusal(ECHO, cast.agent, raw).body())


def test_the_wire_form_of_a_tool_is_flat() -> None:
    assert ECHO.tool_json() == {
        "name": "echo",
        "title": "Echo",
        "description": "Say it again.",
        "inputSchema": {
            "type": "object",
            "properties": {
                "text": {"type": "string", "minLength": 1, "maxLength": 10},
                "kind": {"type": "string", "enum": ["day", "week"], "default": "day"},
                "count": {"type": "integer", "minimum": 1, "maximum": 100, "default": 20},
                "tags": {"type": "array", "items": {"type": "string"}},
                "value": {},
            },
            "required": ["text"],
        },
        "outputSchema": {
            "type": "object",
            "properties": {
                "warnings": {"type": "array", "items": {"type": "string"}},
                "said": {"type": "object"},
                "account": {"type": "string"},
                "detail": {"type": "object"},
                "next_cursor": {"type": ["string", "null"]},
                "quiet": {"type": "string"},
            },
            "required": ["said", "account", "detail"],
        },
        "annotations": {
            "title": "Echo",
            "readOnlyHint": True,
            "destructiveHint": False,
            "idempotentHint": True,
            "openWorldHint": False,
        },
    }
    assert set(ECHO.output_schema["properties"]["said"]["properties"]) == {
        "text",
        "kind",
        "count",
        "tags",
        "value",
    }


def test_what_is_left_out_when_empty_is_never_null_in_an_answer() -> None:
    answer = ECHO.output_schema["properties"]
    assert (answer["quiet"]["type"], answer["next_cursor"]["type"]) == ("string", ["string", "null"])


def test_over_rest_an_operation_may_take_and_answer_more() -> None:
    class Wider(EchoInput):
        more: str = ""

    class Longer(Echo):
        longer: bool

    over_rest = replace(ECHO, rest_input=Wider, rest_output=Longer).over_rest
    assert set(over_rest.arguments) - set(ECHO.arguments) == {"more"}
    assert set(over_rest.output_schema["properties"]) - set(ECHO.output_schema["properties"]) == {"longer"}
    assert (ECHO.over_rest.input, ECHO.over_rest.output) == (EchoInput, Echo)


def test_a_registry_refuses_two_operations_of_one_name_in_a_family() -> None:
    registry = Registry()
    registry.add(ECHO)
    registry.add(replace(ECHO, family="paths"))
    with pytest.raises(ValueError, match="already"):
        registry.add(ECHO)
    assert [o.family for o in registry.tools()] == ["hub", "paths"]
    assert registry.get("echo", "paths") is not None
