"""The tools of one endpoint: listed as a credential may see them, called in one database thread."""

import json
from collections import defaultdict
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from mcp.shared.exceptions import MCPError
from mcp_types import INVALID_PARAMS

from accounts.actor import Actor
from memoryhub.common.errors import HubError
from memoryhub.common.faults import refusal_for
from memoryhub.common.threads import in_db_thread
from memoryhub.mcp.callers import Caller
from memoryhub.operations.base import REGISTRY, Operation
from memoryhub.operations.united import United, united

Tool = Operation | United

LIST, CALL = "tools/list", "tools/call"


class Tools:
    """Those of a family, or with None of the whole hub."""

    def __init__(self, family: str | None) -> None:
        self.family = family

    async def answer(self, caller: Caller, method: str, params: Mapping[str, Any]) -> dict[str, Any] | None:
        """The result of either method, in a form that needs no further look: valid JSON without nulls to drop.

        None where it is another method, or its parameters aren't plainly in order and somebody has to say why.
        """
        arguments = params.get("arguments")
        if method == CALL and isinstance(params.get("name"), str) and isinstance(arguments, dict | None):
            return await in_db_thread(self.call, caller, params["name"], arguments)
        if method == LIST and params.get("cursor") is None:
            return {"tools": self.listed(caller.actor)}
        return None

    def call(self, caller: Caller, name: str, arguments: Mapping[str, Any] | None) -> dict[str, Any]:
        """All the way from credential to result. Raises Refused, or MCPError for a tool that isn't there.

        Errors of the tool are in the text alone: some clients hold structured content against its output schema.
        """
        tool = self.find(name, caller.actor)
        try:
            output = tool(caller.actor, arguments)
        except Exception as fault:
            refusal = refusal_for(fault, f"The tool {tool.name}")
            caller.lacks(missing_scopes(refusal))
            return result_of(refusal.body(), isError=True)
        return result_of(output, structuredContent=output, isError=False)

    def find(self, name: str, actor: Actor) -> Tool:
        tool = self.sharing([o for o in REGISTRY.tools(self.family) if o.name == name and self.has(o, actor)])
        if tool is None:
            raise MCPError(INVALID_PARAMS, f"Unknown tool: {name}")
        return tool

    def has(self, operation: Operation, actor: Actor) -> bool:
        """What a key was not given isn't there for it, at the address of the family either."""
        return operation.mcp and operation.family in actor.families

    def sharing(self, operations: list[Operation]) -> Tool | None:
        """One tool for those that have one name."""
        if len(operations) < 2:
            return operations[0] if operations else None
        return united(*operations)

    def listed(self, actor: Actor) -> list[dict[str, Any]]:
        """Those whose scopes the credential has, in the registry's order."""
        by_name = defaultdict[str, list[Operation]](list)
        for operation in REGISTRY.tools(self.family):
            if self.has(operation, actor):
                by_name[operation.name].append(operation)
        tools = (self.sharing(operations) for operations in by_name.values())
        return prepared(tuple(t for t in tools if t and not t.missing_scopes(actor)), actor.profile)


def missing_scopes(refusal: HubError) -> list[str]:
    missing = refusal.details.get("missing_scopes")
    return missing if isinstance(missing, list) else []


def result_of(body: object, **fields: Any) -> dict[str, Any]:
    text = json.dumps(body, ensure_ascii=False, separators=(",", ":"))
    return {"content": [{"type": "text", "text": text}], **fields}


@lru_cache(maxsize=256)
def prepared(tools: tuple[Tool, ...], profile: str) -> list[dict[str, Any]]:
    """Made once for each set of tools that some credential may see."""
    return [tool.tool_json(profile) for tool in tools]
