"""Operations called by name, as the transports call them."""

from typing import Any

import memoryhub.operations.catalogue  # noqa: F401
from accounts.actor import Actor
from memoryhub.operations.base import REGISTRY


def call(name: str, actor: Actor, **arguments: Any) -> dict[str, Any]:
    operation = REGISTRY.get(name, "hub")
    assert operation is not None
    return operation(actor, arguments)


def call_rest(name: str, actor: Actor, **arguments: Any) -> dict[str, Any]:
    """With the arguments that only REST takes."""
    operation = REGISTRY.get(name, "hub")
    assert operation is not None
    return operation.over_rest(actor, arguments)
