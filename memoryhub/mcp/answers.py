"""An operation's outcome as the result of a tool call."""

import json
from collections.abc import Mapping
from typing import Any

from accounts.actor import Actor
from memoryhub.common.faults import refusal_for
from memoryhub.operations.base import Operation


def answer(operation: Operation, actor: Actor, arguments: Mapping[str, Any] | None) -> dict[str, Any]:
    """Runs the operation. Errors are in the text alone: some clients hold structured content against the
    tool's output schema."""
    try:
        output = operation(actor, arguments)
    except Exception as fault:
        refusal = refusal_for(fault, f"The tool {operation.name}")
        return {"resultType": "complete", "content": text_of(refusal.body()), "isError": True}
    return {
        "resultType": "complete",
        "content": text_of(output),
        "structuredContent": output,
        "isError": False,
    }


def text_of(body: object) -> list[dict[str, str]]:
    return [{"type": "text", "text": json.dumps(body, ensure_ascii=False, separators=(",", ":"))}]
