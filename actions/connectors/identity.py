"""Whose account at a vendor a token is for, and what the vendor lets it do."""

from collections.abc import Callable
from dataclasses import dataclass

from actions.connectors.answers import Answer, Refused, SignedOut
from actions.connectors.base import Call
from actions.connectors.client import send


@dataclass(frozen=True)
class Identity:
    """`ref` is the vendor's own, and never means another account; `name` is for people."""

    ref: str
    name: str
    scopes: tuple[str, ...] = ()


def identify(vendor: str, token: str) -> Identity:
    """Asks the vendor. Raises what `send` raises; an answer without an account is a refusal."""
    try:
        return VENDORS[vendor](token)
    except (KeyError, TypeError):
        raise Refused("no account in the answer") from None


def _slack(token: str) -> Identity:
    answer = send("slack", token, Call("POST", "/api/auth.test", {}))
    body = answer.body
    return Identity(
        f"{body['team_id']}/{body['user_id']}", f"{body['team']}: {body['user']}", _scopes(answer)
    )


def _github(token: str) -> Identity:
    answer = send("github", token, Call("GET", "/user"))
    return Identity(str(answer.body["id"]), answer.body["login"], _scopes(answer))


def _google(token: str) -> Identity:
    """Who signed in is known by Google's id, which stays when an address goes to somebody else. A pasted token that
    may not say it is for an address, and either of the two services will do."""
    try:
        body = send("calendar", token, Call("GET", "/oauth2/v2/userinfo")).body
        return Identity(body["id"], body["email"])
    except (SignedOut, Refused):
        pass
    try:
        address = send("gmail", token, Call("GET", "/gmail/v1/users/me/profile")).body["emailAddress"]
    except Refused:
        address = send("calendar", token, Call("GET", "/calendar/v3/calendars/primary")).body["id"]
    return Identity(address, address)


def _notion(token: str) -> Identity:
    body = send("notion", token, Call("GET", "/v1/users/me")).body
    workspace = body.get("bot", {}).get("workspace_name") or body.get("name") or body["id"]
    return Identity(body["id"], workspace)


def _scopes(answer: Answer) -> tuple[str, ...]:
    named = answer.headers.get("x-oauth-scopes", "").split(",")
    return tuple(filter(None, (scope.strip() for scope in named)))


VENDORS: dict[str, Callable[[str], Identity]] = {
    "slack": _slack,
    "google": _google,
    "github": _github,
    "notion": _notion,
}
