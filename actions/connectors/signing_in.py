"""Signing in at a vendor by OAuth 2 (RFC 6749, with PKCE of RFC 7636 where the vendor has it).

What goes over the wire is `client`'s; oauthlib makes what is asked and reads what is answered.
"""

import base64
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qsl, quote_plus, urlencode

from django.conf import settings
from oauthlib.oauth2 import OAuth2Error, WebApplicationClient

from actions.connectors.answers import NotSent, Refused, Unclear
from actions.connectors.base import Call
from actions.connectors.client import (
    SLACK_LATER,
    SLACK_UNCLEAR,
    TOO_MANY,
    Reply,
    fetch,
    pause_of,
    read_object,
    send,
)
from actions.connectors.issuers import Issuer, issuer_of

LONGEST_TOKEN = 4096
VERIFIER = 64
WORD = re.compile(r"[a-z][a-z0-9_]{0,59}")
LATER = SLACK_LATER | {"temporarily_unavailable", "slow_down"}
UNCLEAR = SLACK_UNCLEAR | {"server_error", "internal_failure"}

# What vendors say where it is the hub's own registration there that is wrong.
MISCONFIGURED = {
    "invalid_client", "unauthorized_client", "deleted_client", "redirect_uri_mismatch", "invalid_client_id",
    "bad_client_secret", "bad_redirect_uri", "incorrect_client_credentials", "invalid_redirect_uri",
    "application_suspended", "org_internal",
}  # fmt: skip
# What they say of a refresh token that will never be taken again.
OVER = {
    "invalid_grant", "invalid_refresh_token", "bad_refresh_token", "token_revoked", "token_expired",
    "account_inactive", "invalid_auth", "authorization_not_found",
}  # fmt: skip


@dataclass(frozen=True)
class Tokens:
    """`lasts` are the seconds until the access token ends, if the vendor says that it does."""

    access: str = field(repr=False)
    refresh: str = field(default="", repr=False)
    lasts: int | None = None
    scopes: tuple[str, ...] = ()


def new_verifier() -> str:
    return str(WebApplicationClient("").create_code_verifier(VERIFIER))


def authorization_url(vendor: str, state: str, verifier: str) -> str:
    """Where a person's browser goes to agree."""
    issuer = issuer_of(vendor)
    asked = {
        "client_id": issuer.client_id,
        "response_type": "code",
        "redirect_uri": issuer.callback,
        "state": state,
        **issuer.asks,
    }
    if issuer.needs:
        asked["scope"] = issuer.between.join(issuer.needs)
    if issuer.pkce:
        challenge = WebApplicationClient(issuer.client_id).create_code_challenge(verifier, "S256")
        asked |= {"code_challenge": challenge, "code_challenge_method": "S256"}
    service, path = issuer.authorize
    return f"{settings.VENDOR_URLS[service]}{path}?{urlencode(asked)}"


def exchange(vendor: str, code: str, verifier: str) -> Tokens:
    """Tokens for the code that the browser brought back. Raises NotSent, Refused (its reason is the vendor's word) or
    Unclear."""
    issuer = issuer_of(vendor)
    client = WebApplicationClient(issuer.client_id)
    body = client.prepare_request_body(
        code=code,
        redirect_uri=issuer.callback,
        code_verifier=verifier if issuer.pkce else None,
        include_client_id=False,
    )
    return _asked_for(issuer, client, body)


def renew(vendor: str, refresh: str) -> Tokens:
    """New tokens for a refresh token, which many vendors take only once. Where none comes anew, it stays the same."""
    issuer = issuer_of(vendor)
    client = WebApplicationClient(issuer.client_id)
    tokens = _asked_for(issuer, client, client.prepare_refresh_body(refresh_token=refresh))
    return tokens if tokens.refresh else Tokens(tokens.access, refresh, tokens.lasts, tokens.scopes)


def end(vendor: str, tokens: Tokens) -> None:
    """Have the vendor forget them. Raises what `exchange` raises."""
    ENDS[vendor](issuer_of(vendor), tokens)


def _asked_for(issuer: Issuer, client: WebApplicationClient, body: str) -> Tokens:
    service, path = issuer.token
    reply = fetch(service, _call(issuer, path, dict(parse_qsl(body))), _headers(issuer))
    content = _judged(reply)
    try:
        client.parse_request_body_response(reply.content.decode())
    except (OAuth2Error, ValueError, TypeError, AttributeError):
        raise Unclear("no token in the answer", status=reply.status) from None
    return Tokens(
        _token(client.access_token),
        _token(client.refresh_token) if client.refresh_token else "",
        _seconds(content.get("expires_in")),
        tuple(filter(None, re.split(r"[ ,]+", str(content.get("scope") or "")))),
    )


def _call(issuer: Issuer, path: str, fields: dict[str, str]) -> Call:
    if not issuer.basic:
        fields |= {"client_id": issuer.client_id, "client_secret": issuer.client_secret}
    return Call("POST", path, fields) if issuer.as_json else Call("POST", path, form=fields)


def _headers(issuer: Issuer) -> dict[str, str]:
    """GitHub answers with a form unless it is asked for JSON."""
    return {"Accept": "application/json", **(_basic(issuer) if issuer.basic else {})}


def _basic(issuer: Issuer) -> dict[str, str]:
    shown = f"{quote_plus(issuer.client_id)}:{quote_plus(issuer.client_secret)}"
    return {"Authorization": f"Basic {base64.b64encode(shown.encode()).decode()}"}


def _judged(reply: Reply) -> dict[str, Any]:
    """The answer's object. GitHub and Slack say no with 200."""
    if reply.status == TOO_MANY:
        raise NotSent("too many requests", status=reply.status, retry_after=pause_of(reply.headers))
    if not 200 <= reply.status < 300 and not 400 <= reply.status < 500:
        raise Unclear(f"answered {reply.status}", status=reply.status)
    content = read_object(reply.content, reply.status)
    if content.get("error") or content.get("ok") is False or reply.status >= 400:
        _refuse(content, reply.status)
    return content


def _refuse(content: dict[str, Any], status: int) -> None:
    """Notion puts its word into `code` when it isn't OAuth's."""
    said = content.get("error") or content.get("code")
    word = said if isinstance(said, str) and WORD.fullmatch(said) else f"refused with {status}"
    if word in LATER:
        raise NotSent(word, status=status)
    if word in UNCLEAR:
        raise Unclear(word, status=status)
    raise Refused(word, status=status)


def _token(given: object) -> str:
    if isinstance(given, str) and 0 < len(given) <= LONGEST_TOKEN and given.isascii() and given.isprintable():
        return given
    raise Unclear("no token in the answer")


def _seconds(given: object) -> int | None:
    """Slack and Google say a number, others may say it as a text; nonsense is as if nothing were said."""
    try:
        seconds = int(given)  # type: ignore[call-overload]
    except (TypeError, ValueError, OverflowError):
        return None
    return seconds if 0 < seconds < 10 * 365 * 86_400 else None


def _end_google(issuer: Issuer, tokens: Tokens) -> None:
    reply = fetch(
        "google_oauth", Call("POST", "/revoke", form={"token": tokens.refresh or tokens.access}), {}
    )
    _ended(reply, gone=400)


def _end_slack(issuer: Issuer, tokens: Tokens) -> None:
    send("slack", tokens.access, Call("POST", "/api/auth.revoke", {}))


def _end_github(issuer: Issuer, tokens: Tokens) -> None:
    """All that the account has granted to the app, refresh tokens included."""
    path = f"/applications/{issuer.client_id}/grant"
    _ended(fetch("github", Call("DELETE", path, {"access_token": tokens.access}), _basic(issuer)), gone=404)


def _end_notion(issuer: Issuer, tokens: Tokens) -> None:
    _ended(fetch("notion", Call("POST", "/v1/oauth/revoke", {"token": tokens.access}), _basic(issuer)))


def _ended(reply: Reply, gone: int = 0) -> None:
    """`gone`: what is said of a token that was over already."""
    if not 200 <= reply.status < 300 and reply.status != gone:
        raise Refused(f"refused with {reply.status}", status=reply.status)


ENDS: dict[str, Callable[[Issuer, Tokens], None]] = {
    "google": _end_google, "slack": _end_slack, "github": _end_github, "notion": _end_notion,
}  # fmt: skip
