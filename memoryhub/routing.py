"""WebSocket addresses of all apps."""

from typing import Any

from django.urls import re_path


class Nowhere:
    """Closes sockets that were opened at an address that serves none."""

    async def __call__(self, scope: dict[str, Any], receive: Any, send: Any) -> None:
        await receive()
        await send({"type": "websocket.close", "code": 4404})


websocket_urlpatterns = [re_path(r"", Nowhere())]  # type: ignore[arg-type]
