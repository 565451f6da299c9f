import asyncio
from typing import Any

import pytest

from memoryhub.web.proxies import behind_proxies


def client_seen(proxies: int, *headers: str) -> Any:
    seen = []

    async def application(scope: dict[str, Any], receive: Any, send: Any) -> None:
        seen.append(scope["client"][0])

    scope = {
        "type": "http",
        "client": ("10.0.0.1", 5000),
        "headers": [(b"x-forwarded-for", header.encode()) for header in headers],
    }
    asyncio.run(behind_proxies(application, proxies)(scope, None, None))
    return seen[0]


@pytest.mark.parametrize(
    ("proxies", "headers", "seen"),
    [
        (0, ["192.0.2.7"], "10.0.0.1"),
        (1, ["192.0.2.7"], "192.0.2.7"),
        (1, ["203.0.113.1, 192.0.2.7"], "192.0.2.7"),
        (2, ["203.0.113.1, 192.0.2.7, 10.0.0.2"], "192.0.2.7"),
        (2, ["203.0.113.1, 192.0.2.7", "10.0.0.2"], "192.0.2.7"),
        (1, ["[2001:db8::7]"], "2001:db8::7"),
        (2, ["192.0.2.7"], "10.0.0.1"),
        (1, ["nobody"], "10.0.0.1"),
        (1, [], "10.0.0.1"),
    ],
)
def test_the_address_is_what_the_first_of_our_proxies_was_asked_from(
    proxies: int, headers: list[str], seen: str
) -> None:
    assert client_seen(proxies, *headers) == seen
