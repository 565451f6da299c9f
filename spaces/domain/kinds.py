"""The registry of kinds: every kind of stored thing says here, where it is defined, how it leaves and ends.

Exporting, importing and forgetting walk this registry, so that a kind added later can't be missed.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from accounts.actor import Actor
from spaces.models import Space

Row = dict[str, Any]


@dataclass(frozen=True)
class Match:
    """A row that a query to forget reaches: its typed id, and the first 80 characters of its text."""

    id: str
    sample: str


@dataclass(frozen=True)
class Kind:
    """A kind of stored thing.

    `scope` is its name in `forget` ("" = not reached by queries); `find` lists what holds the words of a
    query, `forget` deletes rows with everything derived and every earlier version, `export` yields plain JSON.
    """

    name: str
    model_label: str
    export: Callable[[Actor, Space], Iterator[Row]]
    scope: str = ""
    find: Callable[[Actor, Space, str], list[Match]] | None = None
    forget: Callable[[Actor, Space, list[UUID]], int] | None = None


_kinds: dict[str, Kind] = {}


def register_kind(kind: Kind) -> Kind:
    if kind.name in _kinds:
        raise ValueError(f"the kind {kind.name} is registered already")
    _kinds[kind.name] = kind
    return kind


def all_kinds() -> list[Kind]:
    return list(_kinds.values())


def kinds_in_scopes(scopes: list[str]) -> list[Kind]:
    return [k for k in all_kinds() if k.scope in scopes]
