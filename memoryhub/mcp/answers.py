"""A tool call's way to an operation, and the operation's outcome as the call's result."""

import json
from collections.abc import Mapping
from typing import Any

from mcp.shared.exceptions import MCPError
from mcp_types import INVALID_PARAMS

from memoryhub.common.faults import refusal_for
from memoryhub.mcp.callers import Caller
from memoryhub.mcp.listing import is_served
from memoryhub.operations.base import REGISTRY


def answer(
    family: str | None, caller: Caller, name: str, arguments: Mapping[str, Any] | None
) -> dict[str, Any]:
    """Works from credential to result in the one thread it is called in. Raises Refused, or MCPError for a tool
    that isn't there. Errors of the tool are in the text alone: some clients hold structured content against
    the tool's output schema."""
    actor = caller.actor
    operation = REGISTRY.get(name, family)
    if operation is None or not is_served(operation, family, actor):
        raise MCPError(INVALID_PARAMS, f"Unknown tool: {name}")
    try:
        output = operation(actor, arguments)
    except Exception as fault:
        refusal = refusal_for(fault, f"The tool {operation.name}")
        return result_of(refusal.body(), isError=True)
    return result_of(output, structuredContent=output, isError=False)


def result_of(body: object, **fields: Any) -> dict[str, Any]:
    text = json.dumps(body, ensure_ascii=False, separators=(",", ":"))
    return {"content": [{"type": "text", "text": text}], **fields}
