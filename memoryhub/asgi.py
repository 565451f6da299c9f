"""The web process: agents' endpoint, pages, REST and sockets in one ASGI application."""

import os
import re
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

import django

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "memoryhub.settings")
django.setup()  # before anything that imports models

from channels.routing import URLRouter  # noqa: E402
from channels.security.websocket import AllowedHostsOriginValidator  # noqa: E402
from django.conf import settings  # noqa: E402
from django.core.asgi import get_asgi_application  # noqa: E402
from django.core.exceptions import ImproperlyConfigured  # noqa: E402
from mcp.server import Server  # noqa: E402

import memoryhub.operations.catalogue  # noqa: E402, F401 (registers every operation)
from accounts.domain.senders import may_send_files  # noqa: E402
from accounts.scopes import FAMILIES  # noqa: E402
from memoryhub.common.garbage import settle_in  # noqa: E402
from memoryhub.common.threads import in_db_thread  # noqa: E402
from memoryhub.mcp.app import ROOT, Endpoint  # noqa: E402
from memoryhub.mcp.guards import plain_headers  # noqa: E402
from memoryhub.mcp.mounts import mount_server, mount_tools  # noqa: E402
from memoryhub.operations.base import REGISTRY  # noqa: E402
from memoryhub.rest.app import MATCH, RestApplication, operation_at  # noqa: E402
from memoryhub.routing import websocket_urlpatterns  # noqa: E402
from memoryhub.web.bodies import bounded  # noqa: E402
from memoryhub.web.cors import with_cors  # noqa: E402
from memoryhub.web.proxies import behind_proxies  # noqa: E402

TAKES_FILES = re.compile(r"/v1/import|/a/(?P<team>[^/]+)/[^/]+/data/")
FORM_BYTES = 1024 * 1024
"""What a form has around the file in it."""

Scope = dict[str, Any]
Receive = Callable[[], Awaitable[Any]]
Send = Callable[[Any], Awaitable[None]]
Application = Callable[[Scope, Receive, Send], Awaitable[None]]


def build_application(extra_servers: Mapping[str, Server[Any]] | None = None) -> Application:
    """`extra_servers` are mounted beside the families, each under its name."""
    check_secrets()
    families = {family: mount_tools(family) for family in FAMILIES if REGISTRY.tools(family)}
    extra = {name: mount_server(server) for name, server in (extra_servers or {}).items()}
    endpoint = Endpoint({"": mount_tools(None), **families, **extra})
    pages, rest = get_asgi_application(), RestApplication()
    sockets = AllowedHostsOriginValidator(URLRouter(websocket_urlpatterns))

    async def application(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await lifespan(endpoint, receive, send)
        elif scope["type"] == "websocket":
            await sockets(scope, receive, send)
        elif scope["path"] == ROOT or scope["path"].startswith(f"{ROOT}/"):
            await endpoint(scope, receive, send)
        elif match := operation_at(scope):
            await rest({**scope, MATCH: match}, bounded(receive, settings.BODY_LIMIT), send)
        else:
            await pages(scope, bounded(receive, await most_of(scope)), send)

    return behind_proxies(with_cors(application), settings.TRUSTED_PROXIES)


async def most_of(scope: Scope) -> int:
    """How much a page is sent at most: what takes files gets more than a form, and from those alone who may."""
    if scope["method"] == "POST" and (match := TAKES_FILES.fullmatch(scope["path"])):
        address = (scope.get("client") or ("",))[0]
        if await in_db_thread(may_send_files, plain_headers(scope), address, match["team"]):
            return settings.IMPORT_BYTES + FORM_BYTES
    return settings.BODY_LIMIT


def check_secrets() -> None:
    """Sessions and page tokens signed with a key that everybody knows would be anybody's; and whoever learns one of
    the two secrets is not to have the other."""
    if settings.SECRET_KEY == settings.KNOWN_KEY:
        raise ImproperlyConfigured("Set SECRET_KEY, or SECRET_KEY_FILE, to a long random text of your own.")
    if settings.KEY_PEPPER == settings.SECRET_KEY:
        raise ImproperlyConfigured(
            "Set KEY_PEPPER, or KEY_PEPPER_FILE, to another one: agent keys are hashed with it."
        )


async def lifespan(endpoint: Endpoint, receive: Receive, send: Send) -> None:
    """The server's lifespan. Where none is sent the endpoint starts with its first request."""
    await receive()
    await endpoint.start()
    settle_in()
    await send({"type": "lifespan.startup.complete"})
    await receive()
    await endpoint.stop()
    await send({"type": "lifespan.shutdown.complete"})


application = build_application()
