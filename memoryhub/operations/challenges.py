"""What WWW-Authenticate says, over MCP and REST alike: where a client learns how to get in, and what to ask for."""

from collections.abc import Iterable

from django.conf import settings

from accounts.actor import GRANT, Actor
from memoryhub.operations.scopes import first_scopes_at

METADATA = "/.well-known/oauth-protected-resource"


def way_in(place: str, error: str = "") -> str:
    """For who isn't known at that place, such as `/mcp`."""
    return _bearer(place, error, first_scopes_at(place))


def way_further(place: str, actor: Actor, missing: Iterable[str]) -> str:
    """For a client that a person let in with too little: all that it needs to go on as before, and to do this too.
    Nothing for a key, which can't ask for more."""
    if actor.kind != GRANT or not (lacking := {*missing}):
        return ""
    return _bearer(place, "insufficient_scope", sorted({*map(str, actor.scopes), *lacking}))


def _bearer(place: str, error: str, scopes: Iterable[str]) -> str:
    said = {
        "error": error,
        "scope": " ".join(scopes),
        "resource_metadata": f"{settings.PUBLIC_URL}{METADATA}{place}",
    }
    return "Bearer " + ", ".join(f'{name}="{value}"' for name, value in said.items() if value)
