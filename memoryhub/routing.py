"""WebSocket addresses of all apps."""

from typing import Any

from django.urls import re_path

from actions.routing import websocket_urlpatterns as live


class Nowhere:
    """Closes sockets that were opened at an address that serves none."""

    async def __call__(self, scope: dict[str, Any], receive: Any, send: Any) -> None:
        await receive()
        await send({"type": "websocket.close", "code": 4404})


websocket_urlpatterns = [*live, re_path(r"", Nowhere())]  # type: ignore[arg-type]
