import uuid
from typing import Any

import pytest
import time_machine
from django.core.cache.backends.db import DatabaseCache
from django.core.cache.backends.locmem import LocMemCache
from django.db import connection

from accounts.domain.limits import count_up, spend_request
from memoryhub.common.errors import HubError, RateLimited
from tests.calls import Caller, at_once
from tests.conftest import Cast, make_key

KEY = uuid.UUID(int=7)
NOON = "2026-03-02T12:00:20Z"


def test_without_a_limit_nothing_is_counted(settings: Any) -> None:
    settings.RATE_LIMIT_REQUESTS = 0
    assert spend_request(KEY) is None


def test_what_is_left_is_told_and_one_too_many_is_refused_until_the_minute_ends(settings: Any) -> None:
    settings.RATE_LIMIT_REQUESTS = 3
    with time_machine.travel(NOON, tick=False) as clock:
        told = [spend_request(KEY) for _ in range(3)]
        assert [one and (one.left, one.reset) for one in told] == [(2, 40), (1, 40), (0, 40)]
        with pytest.raises(RateLimited) as refused:
            spend_request(KEY)
        assert refused.value.details == {"limit": 3, "of": "requests", "retry_after": 40}
        assert spend_request(uuid.UUID(int=8)) is not None
        clock.shift(40)
        assert spend_request(KEY) is not None


@pytest.mark.django_db
def test_over_rest_headers_tell_and_429_says_when_to_come_back(cast: Cast, settings: Any) -> None:
    settings.RATE_LIMIT_REQUESTS, settings.RATE_LIMIT_WRITES = 5, 2
    _, secret = make_key(cast.owner, cast.space)
    caller = Caller(secret)
    with time_machine.travel(NOON, tick=False):
        first = caller("GET", "whoami")
        assert first["RateLimit-Policy"] == '"requests";q=5;w=60'
        assert first["RateLimit"] == '"requests";r=4;t=40'
        written = [caller("POST", "memories", {"text": f"Tea is at {n}"}).status_code for n in range(3)]
        assert written == [201, 201, 429]
        assert caller("GET", "whoami").status_code == 200
        late = caller("GET", "whoami")
        assert (late.status_code, late["Retry-After"]) == (429, "40")
        assert late.json()["error"]["code"] == "rate_limited"


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("kind", [DatabaseCache, LocMemCache])
def test_many_at_once_are_counted_one_by_one(kind: type[Any]) -> None:
    """Each thread has a connection of its own, as each process has."""
    with connection.cursor() as cursor:
        cursor.execute("delete from hub_cache")
    store = kind("hub_cache", {})
    counts = at_once(20, lambda number: [count_up(store, "~t", 60) for _ in range(5)])
    assert not [one for one in counts if isinstance(one, HubError)]
    assert sorted(n for one in counts if isinstance(one, list) for n in one) == list(range(1, 101))
