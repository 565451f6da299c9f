"""The ASGI endpoint: `/mcp` for the whole hub, `/mcp/<family>` for one family.

In order: place, method, form, size, and then the protocol's version, which each request names for itself: the
SDK's session manager serves 2026-07-28, `handshake` what came before. Either first asks who calls.
"""

import asyncio
from collections.abc import Mapping
from contextlib import AsyncExitStack

from mcp_types.version import HANDSHAKE_PROTOCOL_VERSIONS
from starlette.requests import Request
from starlette.types import Message, Receive, Scope, Send

from memoryhub.mcp import guards, handshake
from memoryhub.mcp.callers import Caller
from memoryhub.mcp.messages import parse
from memoryhub.mcp.mounts import Mount
from memoryhub.mcp.refusals import Refused, refuse

ROOT = "/mcp"
ANY_ACCEPT = (b"accept", b"application/json, text/event-stream")


class Endpoint:
    """Answers under ROOT. `mounts` is keyed by the family's name, "" for the whole hub."""

    def __init__(self, mounts: Mapping[str, Mount]) -> None:
        self._mounts = {f"{ROOT}/{name}".rstrip("/"): mount for name, mount in mounts.items()}
        self._running: asyncio.Task[None] | None = None
        self._ready = asyncio.Event()

    async def start(self) -> None:
        """Idempotent: servers that send no lifespan events start it with their first request."""
        if self._running is None:
            self._running = asyncio.create_task(self._run(), name="mcp")
        ready = asyncio.ensure_future(self._ready.wait())
        await asyncio.wait({ready, self._running}, return_when=asyncio.FIRST_COMPLETED)
        if not ready.done():
            ready.cancel()
            self._running.result()

    async def stop(self) -> None:
        if self._running is not None:
            self._running.cancel()
            await asyncio.wait({self._running})

    async def _run(self) -> None:
        """Managers are left in the task that entered them, as their task groups ask for."""
        async with AsyncExitStack() as stack:
            for mount in self._mounts.values():
                await stack.enter_async_context(mount.manager.run())
            self._ready.set()
            await asyncio.Event().wait()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            await self._serve(scope, receive, send)
        except Refused as refusal:
            await refusal.response(scope, receive, send)

    async def _serve(self, scope: Scope, receive: Receive, send: Send) -> None:
        headers = guards.plain_headers(scope)
        guards.check_place(headers)
        path = scope["path"].rstrip("/")
        mount = self._mounts.get(path) or refuse(404, "not_found", "No tools are served at this path.")
        guards.check_method(scope["method"])
        guards.check_form(headers)
        caller = Caller(headers, scope.get("client"), path)
        scope, send = {**scope, Caller.SCOPE_KEY: caller}, caller.telling(send)
        body = await guards.read_body(headers, receive)
        if body is not None:
            await self._dispatch(mount, headers, body, scope, receive, send)

    async def _dispatch(
        self,
        mount: Mount,
        headers: Mapping[str, str],
        body: bytes,
        scope: Scope,
        receive: Receive,
        send: Send,
    ) -> None:
        message = parse(body)
        version = headers.get("mcp-protocol-version")
        if version is None or version in HANDSHAKE_PROTOCOL_VERSIONS:
            response = await handshake.respond(mount, Request(scope, receive), version, message)
            return await response(scope, receive, send)
        await scope[Caller.SCOPE_KEY].identify()
        if not self._ready.is_set():
            await self.start()
        return await mount.manager.handle_request(tidied(scope), replaying(body, receive), send)


def tidied(scope: Scope) -> Scope:
    """Whatever a client says it accepts, it gets JSON; and no white space around a header's value."""
    headers = [(name, value.strip(b" \t")) for name, value in scope["headers"] if name != b"accept"]
    return {**scope, "headers": [*headers, ANY_ACCEPT]}


def replaying(body: bytes, receive: Receive) -> Receive:
    """`receive` from the start of a body that was read already."""
    unread: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]

    async def replay() -> Message:
        return unread.pop() if unread else await receive()

    return replay
