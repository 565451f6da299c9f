"""One protocol server for each endpoint, its tools taken from the registry of operations."""

from collections.abc import Mapping
from typing import Any

from django.conf import settings
from mcp.server import Server, ServerRequestContext
from mcp.shared.exceptions import MCPError
from mcp_types import INVALID_PARAMS, CallToolRequestParams, PaginatedRequestParams
from opentelemetry import trace

from memoryhub.common.threads import in_db_thread
from memoryhub.mcp.answers import answer
from memoryhub.mcp.callers import Caller
from memoryhub.mcp.instructions import INSTRUCTIONS
from memoryhub.mcp.listing import listing
from memoryhub.mcp.straight import straight

Context = ServerRequestContext[Any, Any]


def build_server(family: str | None) -> Server[Any]:
    """The server of a family, or with None of the whole hub."""

    async def list_tools(context: Context, params: PaginatedRequestParams | None) -> dict[str, Any]:
        if params is not None and params.cursor is not None:
            raise MCPError(INVALID_PARAMS, "Unknown cursor: the list has one page.")
        return {"tools": listing(family, caller_of(context).actor)}

    async def call_tool(context: Context, params: CallToolRequestParams) -> dict[str, Any]:
        return await in_db_thread(answer, family, caller_of(context), params.name, params.arguments)

    server = Server[Any](
        "memory-hub",
        version=settings.VERSION,
        title="Memory Hub",
        instructions=INSTRUCTIONS,
        get_tool_input_schema=no_mirrored_arguments,
        on_list_tools=list_tools,  # type: ignore[arg-type]  # the kernel takes a result that is dumped already
        on_call_tool=call_tool,  # type: ignore[arg-type]
    )
    if not tracing():
        server.middleware.clear()
    server.middleware.append(straight(server))
    return server


def caller_of(context: Context) -> Caller:
    request: Any = context.request
    caller: Caller = request.scope[Caller.SCOPE_KEY]
    return caller


def no_mirrored_arguments(name: str) -> Mapping[str, Any] | None:
    """None of our tools repeats an argument in a header. Unasked, the SDK would list all tools to find out."""
    return None


def tracing() -> bool:
    """Whether spans go anywhere: without a provider the SDK's tracing only costs time."""
    return not isinstance(trace.get_tracer_provider(), trace.ProxyTracerProvider)
