from dataclasses import dataclass
from typing import Any

import jsonschema
import pytest

from accounts.actor import Actor
from memoryhub.common.ids import typed_id
from memoryhub.common.tenancy import tenant
from memoryhub.operations.base import REGISTRY
from spaces.domain.spaces import create_space
from spaces.models import Memory, Space
from tests.conftest import Cast


def ask(actor: Actor, name: str, /, **arguments: Any) -> dict[str, Any]:
    """The answer, once it is known to be what the operation says it is."""
    operation = REGISTRY.get(name, "decisions")
    assert operation is not None
    answer = operation(actor, arguments)
    jsonschema.validate(answer, operation.output_schema)
    return answer


@dataclass(frozen=True)
class Desk:
    """Someone who records what sessions decided, in the space `main` of the cast."""

    cast: Cast
    actor: Actor

    @property
    def space(self) -> str:
        return typed_id("spc", self.cast.space.id)

    def record(self, *items: dict[str, Any], **given: Any) -> dict[str, Any]:
        return ask(
            self.actor, "memory_record_summary", **{"space_id": self.space, "items": list(items), **given}
        )

    def ids(self, *items: dict[str, Any], **given: Any) -> list[str]:
        return [record["id"] for record in self.record(*items, **given)["records"]]

    def listed(self, **asked: Any) -> list[dict[str, Any]]:
        records: list[dict[str, Any]] = ask(self.actor, "memory_list_records", **asked)["records"]
        return records

    def found(self, query: str, **asked: Any) -> list[str]:
        answer = ask(self.actor, "memory_search_records", query=query, **asked)
        return [record["text"] for record in answer["records"]]

    def stored(self) -> int:
        with tenant(self.cast.account.id):
            return Memory.objects.count()

    def new_space(self, slug: str, **fields: Any) -> Space:
        with tenant(self.cast.account.id):
            return create_space(self.cast.owner, name=slug.title(), slug=slug, **fields)


def fact(text: str, **fields: Any) -> dict[str, Any]:
    return {"kind": "fact", "text": text, **fields}


def decision(text: str, **fields: Any) -> dict[str, Any]:
    return {"kind": "decision", "text": text, **fields}


@pytest.fixture
def desk(cast: Cast) -> Desk:
    return Desk(cast, cast.agent)
