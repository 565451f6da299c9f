"""How much of a request is kept: the server gives every byte that is sent, and all of it would go onto the disk."""

from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any

Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]


def bounded(receive: Receive, limit: int) -> Receive:
    """The body up to one byte more than `limit`, by which its reader sees that it is too large. The rest is let go."""
    left = limit + 1

    async def some() -> Message:
        nonlocal left
        message = await receive()
        if message["type"] == "http.request":
            piece = message.get("body", b"")[:left]
            left -= len(piece)
            message = {**message, "body": piece}
        return message

    return some
