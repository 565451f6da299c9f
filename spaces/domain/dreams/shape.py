"""What a model may answer: the shape of a result. A result of another shape changes nothing at all.

Limits that are safety rules aren't part of the shape: a change that breaks one is skipped by itself.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator

from memoryhub.common.errors import ValidationFailed, from_pydantic
from memoryhub.common.text import is_blank

MERGED = (2, 8)
REASON, NOTES = 500, 2_000

Tier = Literal["core", "long", "scratch"]
Tags = list[str]


class _Change(BaseModel):
    """What it does not name is ignored: a change can't ask to be pinned, or to be the person's own words."""

    model_config = ConfigDict(extra="ignore", strict=True)

    reason: str

    @field_validator("text", check_fields=False)
    @classmethod
    def says_something(cls, text: str | None) -> str | None:
        if text is not None and is_blank(text):
            raise ValueError("says nothing")
        return text


class Merge(_Change):
    op: Literal["merge"]
    ids: list[str] = Field(
        min_length=MERGED[0], max_length=MERGED[1], json_schema_extra={"uniqueItems": True}
    )
    text: str = Field(min_length=1)
    subject: str | None = None
    tier: Tier | None = None
    tags: Tags | None = None

    @field_validator("ids")
    @classmethod
    def are_different(cls, ids: list[str]) -> list[str]:
        if len(set(ids)) < len(ids):
            raise ValueError("names a memory twice")
        return ids


class Update(_Change):
    op: Literal["update"]
    id: str
    text: str | None = None
    subject: str | None = None
    tags: Tags | None = None


class Retier(_Change):
    op: Literal["retier"]
    id: str
    tier: Tier


class Expire(_Change):
    op: Literal["expire"]
    id: str
    expires_at: str = Field(min_length=1, description="ISO 8601, in the future")


class Drop(_Change):
    op: Literal["drop"]
    id: str


class Add(_Change):
    op: Literal["add"]
    text: str = Field(min_length=1)
    subject: str | None = None
    tier: Literal["long", "scratch"] = "long"
    source_ids: list[str] = Field(min_length=1)


class Result(BaseModel):
    model_config = ConfigDict(extra="ignore", strict=True)

    changes: list[Annotated[Merge | Update | Retier | Expire | Drop | Add, Field(discriminator="op")]]
    notes: str | None = None


@dataclass(frozen=True)
class Proposed:
    """A change as it was asked for. `ids` are those it touches or rests on, as they were sent; `fields` are what it
    says of a memory, as a writer would say them."""

    number: int
    op: str
    ids: tuple[str, ...]
    fields: dict[str, Any]
    reason: str

    @property
    def text(self) -> str | None:
        return self.fields.get("text")

    @property
    def told(self) -> dict[str, Any]:
        return {**self.fields, "reason": self.reason}


def read_result(raw: Mapping[str, Any]) -> tuple[list[Proposed], str]:
    """The changes in their order, and the notes. ValidationFailed for another shape."""
    try:
        result = Result.model_validate(raw)
    except ValidationError as error:
        told = from_pydantic(error)
        fields: Any = told.details["fields"]
        raise ValidationFailed({f"result.{name}": messages for name, messages in fields.items()}) from None
    return [_proposed(i, change) for i, change in enumerate(result.changes)], result.notes or ""


def _proposed(number: int, change: Any) -> Proposed:
    given = change.model_dump(exclude_none=True)
    op, reason = given.pop("op"), given.pop("reason")
    one = given.pop("id", None)
    ids = given.pop("ids", None) or given.pop("source_ids", None) or [one]
    return Proposed(number, op, tuple(dict.fromkeys(ids)), given, reason)


def output_schema() -> dict[str, Any]:
    """The shape as JSON Schema without references, which not every server for models follows."""
    schema = Result.model_json_schema()
    found: dict[str, Any] = _inlined(schema, schema.pop("$defs"))
    return found


def _inlined(node: Any, definitions: Mapping[str, Any]) -> Any:
    if isinstance(node, list):
        return [_inlined(item, definitions) for item in node]
    if not isinstance(node, dict):
        return node
    if "$ref" in node:
        return _inlined(definitions[node["$ref"].rsplit("/", 1)[1]], definitions)
    if "oneOf" in node and "discriminator" in node:
        return {"anyOf": _inlined(node["oneOf"], definitions)}
    if node.get("default", ...) is None and "anyOf" in node:
        return _inlined(node["anyOf"][0], definitions)
    named = node.get("properties")
    plain = {k: v for k, v in node.items() if k not in ("title", "properties") and k != "default"}
    inner = {k: _inlined(v, definitions) for k, v in plain.items()}
    return (
        {**inner, "properties": {n: _inlined(v, definitions) for n, v in named.items()}} if named else inner
    )
