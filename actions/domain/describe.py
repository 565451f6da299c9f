"""An action as plain JSON, the one form in which agents, people's scripts and conflicts get it."""

from datetime import datetime
from typing import Any

from django.conf import settings
from django.utils import timezone

from actions.models import Action
from memoryhub.common.times import format_time


def describe(action: Action) -> dict[str, Any]:
    """Needs `with_current()`. What is empty is None or {}; the status is the one that holds now."""
    now, revision = timezone.now(), action.current
    return {
        "id": action.short_id,
        "uid": action.uid,
        "class": action.class_name,
        "summary": revision.summary,
        "status": action.status_at(now),
        "payload": revision.payload,
        "preconditions": revision.preconditions,
        "meta": action.meta,
        "revision": revision.number,
        "digest": revision.digest,
        "idempotency_key": action.idempotency_key,
        "agent": action.agent,
        "created_at": format_time(action.created_at),
        "updated_at": format_time(action.updated_at),
        "expires_at": format_time(action.expires_at),
        "decided_at": _moment(action.decided_at),
        "claimed_at": _moment(action.claimed_at),
        "finished_at": _moment(action.finished_at),
        "stale": action.is_stale(now),
        "reason": action.reason,
        "receipt": action.receipt,
    }


def page_url(action: Action) -> str:
    """Where a person reads and decides on it."""
    place = f"/a/{action.account.slug}/{action.space.slug}/actions/{action.short_id}/"
    return f"{settings.PUBLIC_URL}{place}"


def _moment(at: datetime | None) -> str | None:
    return format_time(at) if at else None
