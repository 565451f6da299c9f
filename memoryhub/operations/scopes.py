"""Which scopes count at an address: those of what is served there."""

from collections.abc import Iterable

import memoryhub.operations.catalogue  # noqa: F401  (registers every operation)
from accounts.scopes import EVERY_SCOPE, PRESETS, Scope
from memoryhub.operations.base import REGISTRY, Operation

MCP, REST = "/mcp", "/v1"


def scopes_at(place: str) -> list[str]:
    """Of `/mcp`, `/mcp/<family>` or `/v1`, in the order of the enumeration; none where nothing is served."""
    wanted = EVERY_SCOPE if place == REST else {s for o in _tools_at(place) for s in o.scopes}
    return [str(scope) for scope in Scope if scope in wanted]


def first_scopes_at(place: str) -> list[str]:
    """What a client should ask for to begin with: an agent's, without what forgets, exports or administers."""
    return [scope for scope in scopes_at(place) if scope in PRESETS["agent"]]


def _tools_at(place: str) -> Iterable[Operation]:
    base, _, family = place.rpartition("/") if place != MCP else (MCP, "", "")
    return REGISTRY.tools(family or None) if base == MCP else []
