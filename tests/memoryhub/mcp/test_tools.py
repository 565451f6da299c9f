import json
from collections.abc import Iterator
from typing import Any

import pytest
from mcp.shared.exceptions import MCPError

from accounts.actor import Actor
from accounts.scopes import Scope
from memoryhub.mcp.callers import Caller
from memoryhub.mcp.tools import Tools
from memoryhub.operations.base import REGISTRY, Effect, Input, Operation, Output
from tests.conftest import Cast, make_key

STORED = "the office dog is called Biscuit"


def break_down(actor: Actor, args: Input) -> Output:
    raise ValueError(STORED)


BROKEN = Operation(
    name="break_down",
    family="hub",
    title="Break down",
    description="Fails.",
    ways=((Scope.MEMORY_READ,),),
    effect=Effect.READ,
    route=None,
    handler=break_down,
    input=Input,
    output=Output,
)


@pytest.fixture
def broken() -> Iterator[None]:
    REGISTRY.add(BROKEN)
    yield
    del REGISTRY.operations["hub", "break_down"]


@pytest.fixture
def caller(cast: Cast) -> Caller:
    _, secret = make_key(cast.teammate, cast.space)
    return Caller({"x-api-key": secret}, None, "/mcp")


@pytest.mark.usefixtures("broken")
def test_a_fault_of_ours_is_told_by_its_request_alone(
    caller: Caller, caplog: pytest.LogCaptureFixture
) -> None:
    result = Tools("hub").call(caller, "break_down", None)
    error = json.loads(result["content"][0]["text"])["error"]
    assert (result["isError"], error["code"]) == (True, "internal")
    assert error["details"]["request_id"] in caplog.text
    assert "The tool break_down failed" in caplog.text
    assert STORED not in json.dumps(result) + caplog.text


def test_a_tool_is_found_in_its_family_and_in_the_whole(caller: Caller) -> None:
    for family in ("hub", None):
        assert Tools(family).call(caller, "recall", {})["isError"] is False
    with pytest.raises(MCPError, match="Unknown tool: recall"):
        Tools("decisions").call(caller, "recall", {})


def test_what_only_rest_serves_is_no_tool(caller: Caller) -> None:
    assert REGISTRY.get("whoami", "hub") is not None
    with pytest.raises(MCPError):
        Tools("hub").call(caller, "whoami", {})


def test_text_that_is_not_latin_stays_readable(caller: Caller) -> None:
    arguments: dict[str, Any] = {"ns": "n", "key": "k", "value": "部署窗口 é"}
    Tools("hub").call(caller, "kv_set", arguments)
    result = Tools("hub").call(caller, "kv_get", {"ns": "n", "key": "k"})
    assert "部署窗口 é" in result["content"][0]["text"]
