from typing import Any

from django.http import HttpRequest
from rest_framework.authentication import BaseAuthentication
from rest_framework.request import Request

from accounts.actor import Actor
from accounts.domain.credentials import authenticate
from accounts.domain.resources import rest_api
from memoryhub.operations.challenges import way_in

PLACE = "/v1"


def lower_headers(request: HttpRequest) -> dict[str, str]:
    return {name.lower(): value for name, value in request.headers.items()}


class CredentialAuthentication(BaseAuthentication):
    """Keys and tokens only: a browser's session never reaches this interface, so it needs no CSRF token."""

    def authenticate(self, request: Request) -> tuple[Actor, Any]:
        address = request.META.get("REMOTE_ADDR", "")
        return authenticate(lower_headers(request._request), address=address, resource=rest_api()), None

    def authenticate_header(self, request: Request) -> str:
        return way_in(PLACE)
