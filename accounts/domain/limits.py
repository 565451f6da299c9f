"""How often a key may ask and write in a minute. Counted in the shared cache, so that it holds for all processes.

Zero is no limit, which is what `memoryhub up` starts with.
"""

import time
from dataclasses import dataclass
from uuid import UUID

from django.conf import settings
from django.core.cache import caches
from django.core.cache.backends.base import BaseCache
from django.core.cache.backends.db import DatabaseCache
from django.db import transaction

from memoryhub.common.errors import RateLimited
from memoryhub.common.locks import lock

MINUTE = 60
REQUESTS, WRITES = "requests", "writes"


@dataclass(frozen=True)
class Allowance:
    """What a key has left of a minute that ends in `reset` seconds."""

    of: str
    limit: int
    left: int
    reset: int

    @property
    def headers(self) -> dict[str, str]:
        """As draft-ietf-httpapi-ratelimit-headers words them."""
        return {
            "RateLimit-Policy": f'"{self.of}";q={self.limit};w={MINUTE}',
            "RateLimit": f'"{self.of}";r={self.left};t={self.reset}',
        }


def spend_request(key: UUID) -> Allowance | None:
    return _spend(key, REQUESTS, settings.RATE_LIMIT_REQUESTS)


def spend_write(key: UUID) -> Allowance | None:
    return _spend(key, WRITES, settings.RATE_LIMIT_WRITES)


def _spend(key: UUID, of: str, limit: int) -> Allowance | None:
    """One more; RateLimited if that is one too many. None where there is no limit."""
    if not limit:
        return None
    now = int(time.time())
    minute, reset = now // MINUTE, MINUTE - now % MINUTE
    used = count_up(caches["default"], f"~{of}:{key.hex}:{minute}", 2 * MINUTE)
    if used > limit:
        raise RateLimited(
            f"More than {limit} {of} in a minute. Wait {reset} seconds and go on.",
            limit=limit,
            of=of,
            retry_after=reset,
        )
    return Allowance(of, limit, limit - used, reset)


def count_up(store: BaseCache, name: str, seconds: int) -> int:
    """One more than whoever came before, in whichever process. `store` is one of `caches`, not Django's stand-in for
    it. A table has no counter of its own: there one caller waits for the other."""
    if isinstance(store, DatabaseCache):
        with transaction.atomic():
            lock(name)
            used: int = store.get(name, 0) + 1
            store.set(name, used, seconds)
        return used
    store.add(name, 0, seconds)
    return int(store.incr(name))
