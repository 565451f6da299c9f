"""The short way for the two methods of every task, around the SDK's models.

What our handlers answer is valid JSON of the right form already; the kernel would validate and dump it twice
more. A middleware that answers by itself owns the whole result, so what each wire adds to it is added here.
"""

from collections.abc import Mapping
from typing import Any

from mcp.server import Server, ServerRequestContext
from mcp.server.context import CallNext, HandlerResult, ServerMiddleware
from mcp_types import SERVER_INFO_META_KEY
from mcp_types.version import MODERN_PROTOCOL_VERSIONS

FRESH_FOR_MS = 60_000
NEWER_LIST = {"ttlMs": FRESH_FOR_MS, "cacheScope": "private"}

Context = ServerRequestContext[Any, Any]


def straight(server: Server[Any]) -> ServerMiddleware[Any]:
    """Calls the server's own handlers with their parameters unchecked, where these are plainly in order.
    Others go the kernel's way, to be told what is wrong with them."""

    async def serve(ctx: Context, call_next: CallNext) -> HandlerResult:
        if not in_order(ctx.method, ctx.params or {}):
            return await call_next(ctx)
        entry: Any = server.get_request_handler(ctx.method)
        params = entry.params_type.model_construct(**(ctx.params or {}))
        result = await entry.handler(ctx, params)
        return result if ctx.protocol_version not in MODERN_PROTOCOL_VERSIONS else newer(ctx, result)

    def newer(context: Context, result: Mapping[str, Any]) -> dict[str, Any]:
        """Lists are private to a credential, since its scopes shape them."""
        hints = NEWER_LIST if context.method == "tools/list" else {}
        meta = {SERVER_INFO_META_KEY: server.server_info_stamp}
        return {"resultType": "complete", **hints, **result, "_meta": meta}

    return serve


def in_order(method: str, params: Mapping[str, Any]) -> bool:
    if method == "tools/call":
        return isinstance(params.get("name"), str) and isinstance(params.get("arguments"), dict | None)
    return method == "tools/list" and params.get("cursor") is None
