"""What clients ask the authorization server by themselves: its description, a registration, tokens and their end."""

from typing import Any

from django.conf import settings
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_POST, require_safe
from oauth2_provider.oauth2_backends import get_oauthlib_core

from accounts.domain.clients import GRANT_TYPES, NewClient, register_client
from accounts.scopes import Scope
from memoryhub.common.errors import HubError, RateLimited, ValidationFailed
from memoryhub.common.text import check_text, parse_json

WAYS_IN = ["none", "client_secret_post", "client_secret_basic"]
LONGEST_REGISTRATION = 32 * 1024
UNKEPT = {"Cache-Control": "no-store", "Pragma": "no-cache"}


@require_safe
def server_metadata(request: HttpRequest, path: str = "") -> HttpResponse:
    """RFC 8414. One server stands behind every path, and has one name."""
    return JsonResponse(
        {
            "issuer": settings.PUBLIC_URL,
            "authorization_endpoint": at("oauth-authorize"),
            "token_endpoint": at("oauth-token"),
            "registration_endpoint": at("oauth-register"),
            "revocation_endpoint": at("oauth-revoke"),
            "scopes_supported": [str(scope) for scope in Scope],
            "response_types_supported": ["code"],
            "response_modes_supported": ["query"],
            "grant_types_supported": GRANT_TYPES,
            "code_challenge_methods_supported": ["S256"],
            "token_endpoint_auth_methods_supported": WAYS_IN,
            "revocation_endpoint_auth_methods_supported": WAYS_IN,
            "authorization_response_iss_parameter_supported": True,
            "client_id_metadata_document_supported": True,
        }
    )


def at(name: str) -> str:
    return f"{settings.PUBLIC_URL}{reverse(name)}"


@csrf_exempt
@require_POST
def register(request: HttpRequest) -> HttpResponse:
    """RFC 7591. Open to anybody, within limits: to be registered allows nothing yet."""
    try:
        made = register_client(sent_metadata(request), address=request.META.get("REMOTE_ADDR", ""))
    except RateLimited as refusal:
        retry = {"Retry-After": str(refusal.details["retry_after"])}
        return refused("temporarily_unavailable", refusal.message, 429, retry)
    except HubError as refusal:
        return refused(registration_error(refusal), told(refusal))
    return JsonResponse(registered(made), status=201, headers=UNKEPT)


def sent_metadata(request: HttpRequest) -> dict[str, Any]:
    body = request.body
    metadata = parse_json(body) if len(body) <= LONGEST_REGISTRATION else None
    if not isinstance(metadata, dict):
        raise ValidationFailed({"body": ["must be a JSON object of at most 32 KiB"]})
    check_text(metadata)
    return metadata


def registration_error(refusal: HubError) -> str:
    fields = refusal.details.get("fields") or {}
    return "invalid_redirect_uri" if "redirect_uris" in fields else "invalid_client_metadata"  # type: ignore[operator]


def told(refusal: HubError) -> str:
    fields: Any = refusal.details.get("fields") or {}
    return "; ".join(f"{name}: {' '.join(why)}" for name, why in fields.items()) or refusal.message


def registered(made: NewClient) -> dict[str, Any]:
    secret = {"client_secret": made.secret, "client_secret_expires_at": 0} if made.secret else {}
    return {
        "client_id": made.client.client_id,
        "client_id_issued_at": int(timezone.now().timestamp()),
        **made.metadata,
        **secret,
    }


@csrf_exempt
@require_POST
@sensitive_post_parameters()
def token(request: HttpRequest) -> HttpResponse:
    """RFC 6749: a code, or a refresh token, for tokens."""
    if unfit := unfit_form(request):
        return unfit
    if request.POST.get("grant_type") not in GRANT_TYPES:
        return refused("unsupported_grant_type", f"grant_type: one of {', '.join(GRANT_TYPES)}")
    return answered(get_oauthlib_core().create_token_response(request))


@csrf_exempt
@require_POST
@sensitive_post_parameters()
def revoke(request: HttpRequest) -> HttpResponse:
    """RFC 7009: the client is done, or its person signed out of it."""
    if unfit := unfit_form(request):
        return unfit
    return answered(get_oauthlib_core().create_revocation_response(request))


def unfit_form(request: HttpRequest) -> HttpResponse | None:
    try:
        check_text(dict(request.POST.lists()))
    except HubError as refusal:
        return refused("invalid_request", told(refusal))
    return None


def answered(answer: tuple[str | None, dict[str, str], str, int]) -> HttpResponse:
    _uri, headers, body, status = answer
    named = {"Content-Type": "application/json", **headers, **UNKEPT}
    return HttpResponse(body or "", status=status, headers=named)


def refused(error: str, why: str, status: int = 400, headers: dict[str, str] | None = None) -> HttpResponse:
    body = {"error": error, "error_description": why}
    return JsonResponse(body, status=status, headers={**UNKEPT, **(headers or {})})
