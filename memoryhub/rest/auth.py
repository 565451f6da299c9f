from typing import Any

from django.conf import settings
from django.http import HttpRequest
from rest_framework.authentication import BaseAuthentication
from rest_framework.request import Request

from accounts.actor import Actor
from accounts.domain.credentials import authenticate

METADATA_PATH = "/.well-known/oauth-protected-resource"


def challenge(path: str = "") -> str:
    """What a 401 says in WWW-Authenticate: where to learn how to get in."""
    return f'Bearer resource_metadata="{settings.PUBLIC_URL}{METADATA_PATH}{path}"'


def lower_headers(request: HttpRequest) -> dict[str, str]:
    return {name.lower(): value for name, value in request.headers.items()}


class CredentialAuthentication(BaseAuthentication):
    """Agent keys only: a browser's session never reaches this interface, so it needs no CSRF token."""

    def authenticate(self, request: Request) -> tuple[Actor, Any]:
        address = request.META.get("REMOTE_ADDR", "")
        return authenticate(lower_headers(request._request), address=address), None

    def authenticate_header(self, request: Request) -> str:
        return challenge()
