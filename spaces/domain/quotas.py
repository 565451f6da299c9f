"""How much a space may hold. Zero is no limit, which is what `memoryhub up` starts with.

Far from the limit a count in the shared cache is good enough for some seconds; near it, writers count one by one.
"""

from uuid import UUID

from django.conf import settings
from django.core.cache import cache
from django.db.models import Model

from memoryhub.common.errors import QuotaExceeded
from memoryhub.common.locks import lock
from spaces.models import Memory, Record, Value

NOUNS: dict[type[Model], str] = {Memory: "memories", Record: "records", Value: "values"}
FRESH, FAR = 10, 10_000
"""Seconds that a count is good for where so much room is left."""
CLOSE = 200
"""With so little left, one writer waits for the other."""


def check_quota(model: type[Model], account_id: UUID, space_id: UUID | None) -> None:
    """After a row was stored, in its transaction: QuotaExceeded if that was one too many, and it is to be undone."""
    noun = NOUNS.get(model)
    limit = settings.SPACE_QUOTAS[noun] if noun else 0
    if not limit or not noun:
        return
    name = f"~quota:{noun}:{account_id.hex}:{space_id.hex if space_id else ''}"
    if cache.get(name, limit) < limit - FAR:
        return
    known = _count(model, account_id, space_id)
    if known >= limit - CLOSE:
        lock(name)
        known = _count(model, account_id, space_id)
    cache.set(name, known, FRESH)
    if known > limit:
        raise QuotaExceeded(
            f"This space holds {limit} {noun}, which is all it may. Forget some, or use another space.",
            quota=noun,
            limit=limit,
            used=known - 1,
        )


def is_limited(model: type[Model]) -> bool:
    return bool(settings.SPACE_QUOTAS[NOUNS[model]])


def _count(model: type[Model], account_id: UUID, space_id: UUID | None) -> int:
    return model._default_manager.filter(account_id=account_id, space_id=space_id).count()
