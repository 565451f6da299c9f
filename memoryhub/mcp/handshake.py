"""The wire of 2025-11-25 and before, one POST at a time.

Every request stands alone: `initialize` may come first or never, and nothing is kept between two requests. The
SDK's kernel is driven directly, without the stream pair and the tasks it needs for sessions; calls of tools,
which are nearly all there is, go past it.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import anyio
from mcp.server.connection import Connection
from mcp.server.runner import modern_error_data, serve_one
from mcp.shared.dispatcher import CallOptions
from mcp.shared.exceptions import NoBackChannelError
from mcp.shared.message import ServerMessageMetadata
from mcp.shared.transport_context import TransportContext
from mcp_types import (
    DEFAULT_NEGOTIATED_VERSION,
    HEADER_MISMATCH,
    INVALID_REQUEST,
    PROTOCOL_VERSION_META_KEY,
    RequestId,
)
from mcp_types.version import HANDSHAKE_PROTOCOL_VERSIONS, LATEST_HANDSHAKE_VERSION
from starlette.requests import Request
from starlette.responses import Response

from memoryhub.mcp.callers import Caller
from memoryhub.mcp.messages import (
    BAD_REQUEST,
    Call,
    NotACall,
    bad_request,
    error_message,
    read_message,
    result_message,
)
from memoryhub.mcp.mounts import Mount
from memoryhub.mcp.refusals import Refused, json_response
from memoryhub.mcp.tools import CALL

BATCH_VERSION = "2025-03-26"
MAX_BATCH = 50
NEXT_WIRE = "A request with protocol fields in `_meta` must name its version in MCP-Protocol-Version too."


@dataclass
class OneAnswer:
    """The way back to the client while one request is served: its answer, and nothing else."""

    transport: TransportContext
    request_id: RequestId | None
    message_metadata: ServerMessageMetadata
    can_send_request: bool = False

    @cached_property
    def cancel_requested(self) -> anyio.Event:
        """Never set: a client's cancellation comes as a request of its own, and knows nothing of this one."""
        return anyio.Event()

    async def send_raw_request(
        self, method: str, params: Mapping[str, Any] | None, opts: CallOptions | None = None
    ) -> dict[str, Any]:
        raise NoBackChannelError(method)

    async def notify(
        self, method: str, params: Mapping[str, Any] | None, opts: CallOptions | None = None
    ) -> None:
        """Dropped: the answer is one JSON document."""

    async def progress(self, progress: float, total: float | None = None, message: str | None = None) -> None:
        """Dropped, like every notification."""


async def respond(mount: Mount, request: Request, version: str | None, message: Any) -> Response:
    """`version` is the request's header; without one the protocol says which to assume."""
    caller: Caller = request.scope[Caller.SCOPE_KEY]
    if not is_tool_call(message):
        await caller.identify()
    exchange = Exchange(mount, request, caller, version or DEFAULT_NEGOTIATED_VERSION)
    response = await exchange.respond(message)
    await caller.identify()
    return response


@dataclass(frozen=True, slots=True)
class Exchange:
    """One POST and its answer."""

    mount: Mount
    request: Request
    caller: Caller
    version: str

    async def respond(self, message: Any) -> Response:
        if isinstance(message, list):
            return await self.respond_to_batch(message)
        try:
            call = read_message(message)
        except NotACall as fault:
            return json_response(fault.answer, BAD_REQUEST)
        if call is None:
            return Response(status_code=202)
        if belongs_to_next_wire(call):
            return bad_request(HEADER_MISMATCH, NEXT_WIRE)
        return json_response(await self.answer(call))

    async def respond_to_batch(self, batch: list[Any]) -> Response:
        """Only one version of the protocol had batches."""
        if self.version != BATCH_VERSION:
            return bad_request(INVALID_REQUEST, "Send one message at a time: this version has no batches.")
        if not 0 < len(batch) <= MAX_BATCH:
            return bad_request(INVALID_REQUEST, f"A batch holds 1 to {MAX_BATCH} messages.")
        answers = [await self.answer_in_batch(message) for message in batch]
        owed = [answer for answer in answers if answer is not None]
        return json_response(owed) if owed else Response(status_code=202)

    async def answer_in_batch(self, message: Any) -> dict[str, Any] | None:
        try:
            call = read_message(message)
            if call is not None and call.method == "initialize":
                raise NotACall(INVALID_REQUEST, "`initialize` can't be part of a batch.", call.id)
        except NotACall as fault:
            return fault.answer
        return await self.answer(call) if call is not None else None

    async def answer(self, call: Call) -> dict[str, Any]:
        """The message that answers a call."""
        try:
            result = await self.result(call)
        except Refused:
            raise
        except Exception as fault:
            return error_message(call.id, modern_error_data(fault))
        return result_message(call.id, result)

    async def result(self, call: Call) -> dict[str, Any]:
        """From the tools, or through the SDK's kernel, which gets a connection for this one call."""
        tools = self.mount.tools
        result = await tools.answer(self.caller, call.method, call.params or {}) if tools else None
        if result is not None:
            return result
        transport = TransportContext(
            kind="streamable-http", can_send_request=False, headers=self.request.headers
        )
        way_back = OneAnswer(transport, call.id, ServerMessageMetadata(request_context=self.request))
        connection = Connection.for_loop(way_back, protocol_version_hint=spoken_version(self.version, call))
        connection.initialized.set()
        return await serve_one(
            self.mount.server, way_back, call.method, call.params, connection=connection, lifespan_state={}
        )


def spoken_version(version: str, call: Call) -> str:
    """`initialize` comes before the header can: it is answered in the version it settles on."""
    if call.method != "initialize":
        return version
    wanted = (call.params or {}).get("protocolVersion")
    return wanted if wanted in HANDSHAKE_PROTOCOL_VERSIONS else LATEST_HANDSHAKE_VERSION


def is_tool_call(message: Any) -> bool:
    """A tool call identifies its caller itself, in the database thread that it needs anyway."""
    return isinstance(message, dict) and message.get("method") == CALL and "id" in message


def belongs_to_next_wire(call: Call) -> bool:
    meta = (call.params or {}).get("_meta")
    return isinstance(meta, dict) and PROTOCOL_VERSION_META_KEY in meta
