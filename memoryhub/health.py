"""Is it alive, is it ready, and where an agent learns what protects it."""

import time

from django.conf import settings
from django.core.cache import cache
from django.db import DatabaseError, connection
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.views.decorators.http import require_safe

from accounts.scopes import Scope
from accounts.tasks import WORKER_SEEN, WORKER_SILENT_AFTER


@require_safe
def healthz(request: HttpRequest) -> HttpResponse:
    """The process lives."""
    return JsonResponse({"ok": True, "version": settings.VERSION})


@require_safe
def readyz(request: HttpRequest) -> HttpResponse:
    """The database answers and a worker was seen lately. Search is by words."""
    checks = {"database": database_answers(), "worker": False}
    checks["worker"] = checks["database"] and worker_lives()
    ready = all(checks.values())
    return JsonResponse({"ready": ready, "checks": checks, "search": "words"}, status=200 if ready else 503)


def database_answers() -> bool:
    try:
        with connection.cursor() as cursor:
            cursor.execute("select 1")
    except DatabaseError:
        return False
    return True


def worker_lives() -> bool:
    seen = cache.get(WORKER_SEEN)
    return seen is not None and time.time() - seen < WORKER_SILENT_AFTER


@require_safe
def protected_resource(request: HttpRequest, path: str = "") -> HttpResponse:
    """RFC 9728: what the MCP endpoint at this path asks for."""
    resource = f"{settings.PUBLIC_URL}/{path or 'mcp'}"
    return JsonResponse(
        {
            "resource": resource,
            "resource_name": "Memory Hub",
            "bearer_methods_supported": ["header"],
            "scopes_supported": [str(s) for s in Scope],
        }
    )
