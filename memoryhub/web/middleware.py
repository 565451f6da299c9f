"""What a browser remembers about its viewer: the appearance they chose, and the zone their times are shown in."""

from collections.abc import Callable
from urllib.parse import unquote
from zoneinfo import ZoneInfo

from django.http import HttpRequest, HttpResponse
from django.utils import timezone
from django.utils.cache import add_never_cache_headers

from memoryhub.common.errors import ValidationFailed
from memoryhub.common.times import zone

THEMES = ("light", "dark")
THEME_COOKIE, ZONE_COOKIE = "theme", "zone"


class ViewerMiddleware:
    """Comes after authentication. A zone chosen by the person wins over the one the browser is in."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        with timezone.override(viewer_zone(request)):
            response = self.get_response(request)
        if getattr(request.user, "is_authenticated", False) and not response.has_header("Cache-Control"):
            add_never_cache_headers(
                response
            )  # what a person was shown is nobody else's, nor theirs once signed out
        return response


def viewer_zone(request: HttpRequest) -> ZoneInfo:
    chosen = getattr(request.user, "time_zone", "UTC")
    name = unquote(request.COOKIES.get(ZONE_COOKIE, "UTC")) if chosen == "UTC" else chosen
    try:
        return zone(name)
    except ValidationFailed:
        return ZoneInfo("UTC")


def viewer_theme(request: HttpRequest) -> str:
    """ "" is: as the system."""
    theme = request.COOKIES.get(THEME_COOKIE, "")
    return theme if theme in THEMES else ""


def appearance(request: HttpRequest) -> dict[str, object]:
    """Context processor."""
    return {"theme": viewer_theme(request)}
