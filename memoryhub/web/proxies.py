"""Who asks, where proxies of ours stand in front. What a client itself claims is never believed."""

from collections.abc import Awaitable, Callable
from ipaddress import ip_address
from typing import Any

Scope = dict[str, Any]
Application = Callable[[Scope, Any, Any], Awaitable[None]]


def behind_proxies(application: Application, proxies: int) -> Application:
    """Each proxy adds the address it was asked from; so the one that came first to ours is that many from the end."""
    if not proxies:
        return application

    async def served(scope: Scope, receive: Any, send: Any) -> None:
        if scope["type"] in ("http", "websocket") and (address := forwarded(scope, proxies)):
            scope = {**scope, "client": (address, 0)}
        await application(scope, receive, send)

    return served


def forwarded(scope: Scope, proxies: int) -> str:
    """ "" where fewer have spoken, or what stands there is no address."""
    lines = [value.decode("latin1") for name, value in scope["headers"] if name == b"x-forwarded-for"]
    told = [part.strip() for part in ",".join(lines).split(",")]
    if len(told) < proxies:
        return ""
    try:
        return str(ip_address(told[-proxies].strip("[]")))
    except ValueError:
        return ""
