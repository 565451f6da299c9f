"""A key that asks too often is told to wait, over MCP as over REST; others are not."""

from typing import Any

import time_machine

from tests.cases.hub import Hub
from tests.inprocess import InProcess

HEADERS = {"content-type": "application/json"}
PING = {"jsonrpc": "2.0", "id": 1, "method": "ping"}


def ping(in_process: InProcess, secret: str) -> tuple[int, dict[str, str]]:
    answer = in_process.request(
        "POST", "/mcp", json=PING, headers={**HEADERS, "authorization": f"Bearer {secret}"}
    )
    return answer.status_code, dict(answer.headers)


def test_one_request_too_many_is_429_with_the_time_to_wait(
    hub: Hub, in_process: InProcess, settings: Any
) -> None:
    settings.RATE_LIMIT_REQUESTS = 2
    one, other = hub.key("owner"), hub.key("owner")
    with time_machine.travel("2026-03-02T12:00:20Z", tick=True):
        status, headers = ping(in_process, one)
        assert (status, headers["ratelimit-policy"]) == (200, '"requests";q=2;w=60')
        assert ping(in_process, one)[0] == 200
        status, headers = ping(in_process, one)
        assert status == 429
        assert 0 < int(headers["retry-after"]) <= 40
        assert ping(in_process, other)[0] == 200
