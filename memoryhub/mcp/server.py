"""The protocol's server of one endpoint."""

from collections.abc import Mapping
from typing import Any

from django.conf import settings
from mcp.server import Server, ServerRequestContext
from mcp.server.context import CallNext, HandlerResult, ServerMiddleware
from mcp.shared.exceptions import MCPError
from mcp_types import INVALID_PARAMS, SERVER_INFO_META_KEY, CallToolRequestParams, PaginatedRequestParams
from mcp_types.version import MODERN_PROTOCOL_VERSIONS

from memoryhub.mcp.callers import Caller
from memoryhub.mcp.instructions import INSTRUCTIONS
from memoryhub.mcp.tools import LIST, Tools

Context = ServerRequestContext[Any, Any]
FRESH_FOR_MS = 60_000
LIST_HINTS = {"ttlMs": FRESH_FOR_MS, "cacheScope": "private"}


def build_server(tools: Tools) -> Server[Any]:
    """The SDK's handlers say that there are tools; what reaches them is refused, the rest is answered on the way."""

    async def list_tools(context: Context, params: PaginatedRequestParams | None) -> Any:
        raise MCPError(INVALID_PARAMS, "Unknown cursor: the list has one page.")

    async def call_tool(context: Context, params: CallToolRequestParams) -> Any:
        raise MCPError(INVALID_PARAMS, "`name` must be a string and `arguments` an object.")

    server = Server[Any](
        "memory-hub",
        version=settings.VERSION,
        title="Memory Hub",
        instructions=INSTRUCTIONS,
        get_tool_input_schema=no_mirrored_arguments,
        on_list_tools=list_tools,
        on_call_tool=call_tool,
    )
    server.middleware.append(answering(server, tools))
    return server


def answering(server: Server[Any], tools: Tools) -> ServerMiddleware[Any]:
    """Answers before the kernel would check and dump, twice, what needs neither."""

    async def answer(ctx: Context, call_next: CallNext) -> HandlerResult:
        result = await tools.answer(caller_of(ctx), ctx.method, ctx.params or {})
        if result is None:
            return await call_next(ctx)
        return enveloped(ctx, result)

    def enveloped(context: Context, result: dict[str, Any]) -> dict[str, Any]:
        """A list is private to a credential, since its scopes shape it."""
        if context.protocol_version not in MODERN_PROTOCOL_VERSIONS:
            return result
        hints = LIST_HINTS if context.method == LIST else {}
        meta = {SERVER_INFO_META_KEY: server.server_info_stamp}
        return {"resultType": "complete", **hints, **result, "_meta": meta}

    return answer


def caller_of(context: Context) -> Caller:
    request: Any = context.request
    caller: Caller = request.scope[Caller.SCOPE_KEY]
    return caller


def no_mirrored_arguments(name: str) -> Mapping[str, Any] | None:
    """None of our tools repeats an argument in a header. Unasked, the SDK would list all tools to find out."""
    return None
