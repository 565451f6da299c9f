"""Pages from listed origins may call what agents' clients call: MCP, the authorization server and its metadata.

None of it takes a cookie, so what a browser may send along never counts.
"""

from collections.abc import Awaitable, Callable
from typing import Any

from django.conf import settings

Scope = dict[str, Any]
Receive = Callable[[], Awaitable[Any]]
Send = Callable[[Any], Awaitable[None]]
Application = Callable[[Scope, Receive, Send], Awaitable[None]]
Headers = list[tuple[bytes, bytes]]

OPEN_TO_PAGES = (
    "/mcp",
    "/oauth/token",
    "/oauth/register",
    "/oauth/revoke",
    "/.well-known/oauth-authorization-server",
    "/.well-known/oauth-protected-resource",
)
ALLOWED: Headers = [
    (b"access-control-allow-methods", b"GET, POST, OPTIONS"),
    (
        b"access-control-allow-headers",
        b"Authorization, Content-Type, Accept, X-API-Key, MCP-Protocol-Version, Mcp-Method, Mcp-Name,"
        b" Mcp-Session-Id, X-Memory-Hub-Space, X-Memory-Hub-Agent-ID, X-Memory-Hub-Agent-Instance-ID,"
        b" X-Memory-Hub-Device-Label",
    ),
    (b"access-control-max-age", b"7200"),
]
READABLE = (b"access-control-expose-headers", b"WWW-Authenticate, Retry-After, RateLimit, RateLimit-Policy")


def with_cors(application: Application) -> Application:
    async def answer(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or not is_open(scope["path"]):
            await application(scope, receive, send)
        elif is_preflight(scope):
            await preflight(header(scope, b"origin"), send)
        else:
            await application(scope, receive, telling(header(scope, b"origin"), send))

    return answer


def is_open(path: str) -> bool:
    return any(path == each or path.startswith(f"{each}/") for each in OPEN_TO_PAGES)


def is_preflight(scope: Scope) -> bool:
    return bool(scope["method"] == "OPTIONS" and header(scope, b"access-control-request-method"))


def header(scope: Scope, name: bytes) -> str:
    return next((value.decode("latin-1") for n, value in scope["headers"] if n == name), "")


async def preflight(origin: str, send: Send) -> None:
    """Any method and header that a client needs; to other origins nothing is said."""
    allowed = allowance(origin)
    headers = [*allowed, *ALLOWED] if allowed else [(b"vary", b"Origin")]
    await send({"type": "http.response.start", "status": 204, "headers": headers})
    await send({"type": "http.response.body", "body": b""})


def telling(origin: str, send: Send) -> Send:
    async def told(message: Any) -> None:
        if message["type"] == "http.response.start":
            extra = [*allowance(origin), READABLE] if allowance(origin) else [(b"vary", b"Origin")]
            message = {**message, "headers": [*message.get("headers", []), *extra]}
        await send(message)

    return told


def allowance(origin: str) -> Headers:
    if not origin or origin.lower() not in settings.ALLOWED_ORIGINS:
        return []
    return [(b"access-control-allow-origin", origin.encode("latin-1")), (b"vary", b"Origin")]
