"""The one way out to a vendor: one address for each, no redirects, and no more of an answer than is sensible.

What an answer means is decided here, strictly: only what is certainly undone may be tried again.
"""

import json
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache
from typing import Any, NamedTuple

import httpx2
from django.conf import settings

from actions.connectors.answers import Answer, NotSent, Refused, SignedOut, Trouble, Unclear
from actions.connectors.base import Ask, Call
from memoryhub.common.threads import let_go

CONNECT_SECONDS = 5.0
BIGGEST_ANSWER = 4 * 1024 * 1024
LONGEST_PAUSE = 3600.0
USER_AGENT = f"MemoryHub/{settings.VERSION}"
HEADERS = {
    "github": {"Accept": "application/vnd.github+json", "X-GitHub-Api-Version": "2022-11-28"},
    "notion": {"Notion-Version": "2022-06-28"},
}
NEVER_BEGUN = (httpx2.ConnectError, httpx2.ConnectTimeout, httpx2.PoolTimeout, httpx2.UnsupportedProtocol)
TOO_MANY, SIGNED_OUT, LIMITED = 429, 401, 403

# Slack says no with 200. These leave it open what was done; every other word of it is a refusal for good.
SLACK_UNCLEAR = {"internal_error", "fatal_error", "service_unavailable", "request_timeout", "unknown_error"}
SLACK_LATER = {"ratelimited", "rate_limited", "message_limit_exceeded"}
SLACK_SIGNED_OUT = {"invalid_auth", "not_authed", "account_inactive", "token_revoked", "token_expired"}


class Reply(NamedTuple):
    """As it came over the wire; the names of `headers` are in lower case."""

    status: int
    headers: dict[str, str]
    content: bytes


def asking(service: str, token: str) -> Ask:
    return lambda call: send(service, token, call).body


def send(service: str, token: str, call: Call) -> Answer:
    """One request, once. Raises NotSent, SignedOut, Refused or Unclear.

    Not to be called inside a transaction; the thread's connection to the database is given back first.
    """
    status, headers, content = fetch(service, call, {"Authorization": f"Bearer {token}"})
    _judge_status(status, headers, content)
    body = read_object(content, status)
    if service == "slack":
        _judge_slack(body, status)
    return Answer(status, body, headers)


def fetch(service: str, call: Call, headers: dict[str, str]) -> Reply:
    """What was answered, whatever it is. Raises NotSent or Unclear where nothing was."""
    let_go()
    try:
        with _request(service, call, headers) as response:
            return Reply(response.status_code, dict(response.headers), _read(response))
    except NEVER_BEGUN as error:
        raise NotSent(type(error).__name__) from None
    except (httpx2.HTTPError, httpx2.InvalidURL) as error:
        raise Unclear(type(error).__name__) from None


@contextmanager
def _request(service: str, call: Call, headers: dict[str, str]) -> Iterator[httpx2.Response]:
    with _pool().stream(
        call.method,
        f"{settings.VENDOR_URLS[service]}{call.path}",
        params=dict(call.query) or None,
        json=call.body,
        data=call.form,
        headers={"User-Agent": USER_AGENT, **HEADERS.get(service, {}), **headers},
        timeout=httpx2.Timeout(settings.VENDOR_SECONDS, connect=CONNECT_SECONDS),
    ) as response:
        yield response


def _read(response: httpx2.Response) -> bytes:
    deadline = time.monotonic() + settings.VENDOR_SECONDS
    content = bytearray()
    for piece in response.iter_bytes():
        content += piece
        if len(content) > BIGGEST_ANSWER:
            raise Unclear("answer too long", status=response.status_code)
        if time.monotonic() > deadline:
            raise Unclear("answer too slow", status=response.status_code)
    return bytes(content)


def _judge_status(status: int, headers: dict[str, str], content: bytes) -> None:
    if 200 <= status < 300:
        return
    if status == TOO_MANY or (status == LIMITED and _is_limit(headers, content)):
        raise NotSent("too many requests", status=status, retry_after=pause_of(headers))
    if status == SIGNED_OUT:
        raise SignedOut("signed out", status=status)
    if 400 <= status < 500 and status != httpx2.codes.REQUEST_TIMEOUT:
        raise Refused(f"refused with {status}", status=status)
    raise Unclear(f"answered {status}", status=status)


def _is_limit(headers: dict[str, str], content: bytes) -> bool:
    """GitHub and Google also say with 403 that it is too often."""
    named = (b"rateLimitExceeded", b"userRateLimitExceeded", b"secondary rate limit")
    return (
        "retry-after" in headers
        or headers.get("x-ratelimit-remaining") == "0"
        or any(n in content for n in named)
    )


def _judge_slack(body: dict[str, Any], status: int) -> None:
    if body.get("ok") is True:
        return
    said = str(body.get("error", ""))
    code = said if said.replace("_", "").isalnum() and len(said) < 60 else "no reason"
    trouble: Trouble = Refused(code, status=status)
    if code in SLACK_UNCLEAR or body.get("ok") is not False:
        trouble = Unclear(code, status=status)
    elif code in SLACK_LATER:
        trouble = NotSent(code, status=status)
    elif code in SLACK_SIGNED_OUT:
        trouble = SignedOut(code, status=status)
    raise trouble


def read_object(content: bytes, status: int) -> dict[str, Any]:
    """A list is answered as `{"items": […]}`."""
    try:
        value = json.loads(content)
    except ValueError:
        raise Unclear("answer is not JSON", status=status) from None
    if isinstance(value, list):
        return {"items": value}
    if not isinstance(value, dict):
        raise Unclear("answer is no object", status=status)
    return value


def pause_of(headers: dict[str, str]) -> float | None:
    try:
        seconds = float(headers.get("retry-after", ""))
    except ValueError:
        return None
    return min(seconds, LONGEST_PAUSE) if seconds > 0 else None


@lru_cache(maxsize=1)
def _pool() -> httpx2.Client:
    """No redirect is followed: it would take the token along. Nothing is sent twice by the transport, and every
    call has a connection of its own: one that was kept may be closed just when it is used, which is unclear."""
    limits = httpx2.Limits(max_keepalive_connections=0)
    transport = httpx2.HTTPTransport(retries=0, limits=limits)
    return httpx2.Client(transport=transport, follow_redirects=False, trust_env=False)


os.register_at_fork(after_in_child=_pool.cache_clear)
