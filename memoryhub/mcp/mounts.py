"""A server at an address, with what serves it on each wire."""

from dataclasses import dataclass
from typing import Any

from django.conf import settings
from mcp.server import Server
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from opentelemetry import trace

from memoryhub.mcp.server import build_server
from memoryhub.mcp.tools import Tools


@dataclass(frozen=True, slots=True)
class Mount:
    """`manager` serves the newer wire. On the older one `tools`, where given, answer past the SDK's kernel."""

    server: Server[Any]
    manager: StreamableHTTPSessionManager
    tools: Tools | None = None


def mount_tools(family: str | None) -> Mount:
    """The tools of a family, or with None of the whole hub."""
    tools = Tools(family)
    server = build_server(tools)
    if is_tracing():
        return Mount(server, manager_of(server))
    server.middleware.pop(0)  # the SDK's own, which makes spans
    return Mount(server, manager_of(server), tools)


def mount_server(server: Server[Any]) -> Mount:
    """Any other server. Its tools may report progress: on the newer wire its answers stream as they have to."""
    return Mount(server, manager_of(server, streaming=True))


def manager_of(server: Server[Any], *, streaming: bool = False) -> StreamableHTTPSessionManager:
    return StreamableHTTPSessionManager(
        server, stateless=True, json_response=not streaming, max_request_body_size=settings.BODY_LIMIT
    )


def is_tracing() -> bool:
    """Whether spans go anywhere: without a provider they would only cost time."""
    return not isinstance(trace.get_tracer_provider(), trace.ProxyTracerProvider)
