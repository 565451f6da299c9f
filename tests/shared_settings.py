"""Settings of several real servers that count in one cache."""

from memoryhub.common.env import envint
from tests.live_settings import *  # noqa: F403

CACHES = {
    "default": {"BACKEND": "django.core.cache.backends.db.DatabaseCache", "LOCATION": "hub_cache"},
}
RATE_LIMIT_REQUESTS, RATE_LIMIT_WRITES = envint("RATE_LIMIT_REQUESTS"), envint("RATE_LIMIT_WRITES")
