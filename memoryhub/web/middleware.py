"""What a browser remembers about its viewer: the appearance they chose, and the zone their times are shown in."""

from collections.abc import Awaitable, Callable
from typing import Any
from urllib.parse import unquote
from zoneinfo import ZoneInfo

from asgiref.sync import iscoroutinefunction
from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.utils import timezone
from django.utils.cache import add_never_cache_headers
from django.utils.decorators import sync_and_async_middleware

from memoryhub.common.errors import ValidationFailed
from memoryhub.common.times import zone

THEMES = ("light", "dark")
THEME_COOKIE, ZONE_COOKIE = "theme", "zone"

Handler = Callable[[HttpRequest], Any]


@sync_and_async_middleware
def viewer_middleware(get_response: Handler) -> Handler:
    """Comes after authentication. A zone chosen by the person wins over the one the browser is in."""

    def serve(request: HttpRequest) -> HttpResponseBase:
        with timezone.override(viewer_zone(request, request.user)):
            response: HttpResponseBase = get_response(request)
        return kept_private(request, response)

    async def serve_async(request: HttpRequest) -> HttpResponseBase:
        with timezone.override(viewer_zone(request, await request.auser())):
            answer: Awaitable[HttpResponseBase] = get_response(request)
            response = await answer
        return kept_private(request, response)

    return serve_async if iscoroutinefunction(get_response) else serve


def viewer_zone(request: HttpRequest, user: object) -> ZoneInfo:
    chosen = getattr(user, "time_zone", "UTC")
    name = unquote(request.COOKIES.get(ZONE_COOKIE, "UTC")) if chosen == "UTC" else chosen
    try:
        return zone(name)
    except ValidationFailed:
        return ZoneInfo("UTC")


def kept_private(request: HttpRequest, response: HttpResponseBase) -> HttpResponseBase:
    """What a person was shown is nobody else's, nor theirs once they have signed out."""
    if hasattr(request, "actor") and not response.has_header("Cache-Control"):
        add_never_cache_headers(response)
    return response


def viewer_theme(request: HttpRequest) -> str:
    """ "" is: as the system."""
    theme = request.COOKIES.get(THEME_COOKIE, "")
    return theme if theme in THEMES else ""


def appearance(request: HttpRequest) -> dict[str, object]:
    """Context processor."""
    return {"theme": viewer_theme(request)}
