"""`tools/list`: prepared once for each set of tools that some credential may see."""

from functools import lru_cache
from typing import Any

from accounts.actor import Actor
from memoryhub.operations.base import REGISTRY, Operation


def is_served(operation: Operation, family: str | None, actor: Actor) -> bool:
    """Whether this endpoint has the tool for this credential at all. The address of a family is explicit: what
    a key chooses to show is about the whole hub."""
    return operation.mcp and (family is not None or operation.family in actor.families)


def listing(family: str | None, actor: Actor) -> list[dict[str, Any]]:
    """The tools whose scopes the credential has, in the registry's order."""
    return prepared(family, tuple(operation.name for operation in visible(family, actor)))


def visible(family: str | None, actor: Actor) -> list[Operation]:
    return [
        operation
        for operation in REGISTRY.tools(family)
        if is_served(operation, family, actor) and not operation.missing_scopes(actor)
    ]


@lru_cache(maxsize=256)
def prepared(family: str | None, names: tuple[str, ...]) -> list[dict[str, Any]]:
    return [operation.tool_json() for operation in REGISTRY.tools(family) if operation.name in names]
