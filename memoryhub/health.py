"""Is it alive, and is it ready."""

import time

from django.conf import settings
from django.core.cache import cache
from django.db import DatabaseError, connection
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.views.decorators.http import require_safe

from accounts.tasks import WORKER_SEEN, WORKER_SILENT_AFTER
from spaces.domain.embeddings.status import Status, embedding_status


@require_safe
def healthz(request: HttpRequest) -> HttpResponse:
    """The process lives."""
    return JsonResponse({"ok": True, "version": settings.VERSION})


@require_safe
def readyz(request: HttpRequest) -> HttpResponse:
    """The database answers, a worker was seen lately, and the model is ready or given up for now."""
    checks = {"database": database_answers(), "worker": False, "model": False}
    content: dict[str, object] = {"checks": checks, "search": "words"}
    if checks["database"]:
        status = embedding_status()
        checks["worker"], checks["model"] = worker_lives(), status.state != "preparing"
        content |= told(status)
    ready = all(checks.values())
    response = JsonResponse({"ready": ready, **content}, status=200 if ready else 503)
    response._has_been_logged = True  # type: ignore[attr-defined] # "not yet" is an answer, and no error of ours
    return response


def told(status: Status) -> dict[str, object]:
    """By what searches are; and where it should be more, why it is not."""
    if status.state == "ready":
        return {"search": "meaning and words", "model": status.model}
    degraded: dict[str, object] = {"degraded": "words", "reason": status.note} if status.note else {}
    return {"search": "words", **degraded}


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
