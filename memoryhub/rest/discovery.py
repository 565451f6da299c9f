"""RFC 9728: what protects each address that agents call, and what may be asked for there."""

from django.conf import settings
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.views.decorators.http import require_safe

from memoryhub.operations.scopes import scopes_at


@require_safe
def protected_resource(request: HttpRequest, path: str = "") -> HttpResponse:
    """Without a path, the whole hub's."""
    place = f"/{path or 'mcp'}"
    scopes = scopes_at(place)
    if not scopes:
        raise Http404
    return JsonResponse(
        {
            "resource": f"{settings.PUBLIC_URL}{place}",
            "resource_name": "Memory Hub",
            "authorization_servers": [settings.PUBLIC_URL],
            "bearer_methods_supported": ["header"],
            "scopes_supported": scopes,
        }
    )
