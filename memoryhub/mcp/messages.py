"""JSON-RPC messages: from bytes to something that may be dispatched."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from mcp_types import INVALID_PARAMS, INVALID_REQUEST, PARSE_ERROR, ErrorData, RequestId
from starlette.responses import Response

from memoryhub.mcp.refusals import Refused, json_response

MAX_DEPTH = 100
BAD_REQUEST = 400


@dataclass(frozen=True, slots=True)
class Call:
    """A request: it has an id, and is owed an answer."""

    id: RequestId
    method: str
    params: dict[str, Any] | None


class NotACall(Exception):
    """A message that breaks JSON-RPC; `answer` is the error it is owed."""

    def __init__(self, code: int, message: str, id: RequestId | None = None) -> None:
        super().__init__(message)
        self.answer = error_message(id, ErrorData(code=code, message=message))


def parse(body: bytes) -> Any:
    """The JSON value of a body. Numbers too long and nesting too deep are refused, as malformed JSON is."""
    try:
        value = json.loads(body)
    except (ValueError, RecursionError):
        raise Refused(bad_request(PARSE_ERROR, "The body is not JSON.")) from None
    if too_deep(body, value):
        raise Refused(bad_request(INVALID_REQUEST, f"The body is nested deeper than {MAX_DEPTH} levels."))
    return value


def too_deep(body: bytes, value: Any) -> bool:
    if body.count(b"[") + body.count(b"{") <= MAX_DEPTH:
        return False
    level = [value]
    for _ in range(MAX_DEPTH):
        level = [item for holder in level for item in inside(holder)]
    return any(isinstance(item, dict | list) for item in level)


def inside(value: Any) -> Any:
    if isinstance(value, dict):
        return value.values()
    return value if isinstance(value, list) else ()


def read_message(message: Any) -> Call | None:
    """The call in a decoded message; None for what is owed no answer: notifications and a client's responses.

    Raises NotACall.
    """
    if not isinstance(message, dict) or message.get("jsonrpc") != "2.0":
        raise NotACall(INVALID_REQUEST, "Not a JSON-RPC 2.0 message.", usable_id(message))
    method = message.get("method")
    if method is None and ("result" in message or "error" in message):
        return None
    if not isinstance(method, str):
        raise NotACall(INVALID_REQUEST, "`method` must be a string.", usable_id(message))
    if "id" not in message:
        return None
    return read_call(message, method)


def read_call(message: Mapping[str, Any], method: str) -> Call:
    id = usable_id(message)
    if id is None:
        raise NotACall(INVALID_REQUEST, "`id` must be a string or a whole number.")
    params = message.get("params")
    if not isinstance(params, dict | None):
        raise NotACall(INVALID_PARAMS, "`params` must be an object.", id)
    return Call(id, method, params)


def usable_id(message: Any) -> RequestId | None:
    id = message.get("id") if isinstance(message, dict) else None
    return id if isinstance(id, str | int) and not isinstance(id, bool) else None


def result_message(id: RequestId, result: Mapping[str, Any]) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": id, "result": result}


def error_message(id: RequestId | None, error: ErrorData) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": id, "error": error.model_dump(mode="json", exclude_none=True)}


def bad_request(code: int, message: str, data: Any = None) -> Response:
    answer = error_message(None, ErrorData(code=code, message=message, data=data))
    return json_response(answer, BAD_REQUEST)
