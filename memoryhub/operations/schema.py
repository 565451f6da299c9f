"""From pydantic models to the flat JSON schemas that every MCP client can read: no $ref, no unions, no titles."""

from collections.abc import Collection
from copy import deepcopy
from typing import Any

from pydantic import BaseModel

Schema = dict[str, Any]

NEVER_NULL = "neverNull"


def input_schema(model: type[BaseModel]) -> Schema:
    """Null means absent in an argument, so it is no type of its own."""
    return _Flattener(keep_null=False).flat(model.model_json_schema(by_alias=True, mode="validation"))


def output_schema(model: type[BaseModel]) -> Schema:
    return _Flattener(keep_null=True).flat(model.model_json_schema(by_alias=True, mode="serialization"))


def shallow(schema: Schema) -> Schema:
    """An answer's schema without what is inside its objects: true of the same answers, and much shorter."""
    return {**schema, "properties": {n: _closed(s) for n, s in schema["properties"].items()}}


def without(schema: Schema, names: Collection[str]) -> Schema:
    """The schema of an object that lacks these optional properties."""
    return {**schema, "properties": {n: s for n, s in schema["properties"].items() if n not in names}}


def _closed(node: Schema) -> Schema:
    if node.get("type") == "array" and "items" in node:
        return {**node, "items": _closed(node["items"])}
    inside = ("properties", "required", "additionalProperties", "propertyNames")
    return {key: value for key, value in node.items() if key not in inside}


class _Flattener:
    def __init__(self, *, keep_null: bool) -> None:
        self.keep_null = keep_null
        self.definitions: Schema = {}

    def flat(self, schema: Schema) -> Schema:
        self.definitions = schema.pop("$defs", {})
        schema.pop("description", None)
        flat: Schema = self.resolve(schema)
        flat.setdefault("properties", {})
        return flat

    def resolve(self, node: Any) -> Any:
        if isinstance(node, list):
            return [self.resolve(n) for n in node]
        if not isinstance(node, dict):
            return node
        if "$ref" in node:
            target = deepcopy(self.definitions[node["$ref"].rsplit("/", 1)[1]])
            target.pop("description", None)  # its docstring, meant for who reads the code
            return self.resolve({**target, **{k: v for k, v in node.items() if k != "$ref"}})
        return self.one_type({k: self.member(k, v) for k, v in node.items() if not self.is_noise(k, v)})

    def member(self, key: str, value: Any) -> Any:
        if key == "properties":
            return {name: self.resolve(child) for name, child in value.items()}
        return self.resolve(value)

    @staticmethod
    def is_noise(key: str, value: Any) -> bool:
        """What says nothing, but would be paid for in every session."""
        return (key, value) in (("default", None), ("default", ""), ("additionalProperties", True)) or (
            key == "title" and isinstance(value, str)
        )

    def one_type(self, node: Schema) -> Schema:
        """`anyOf: [X, null]` becomes X, nullable in an answer."""
        options = node.get("anyOf")
        if options is None:
            return node
        kept = [o for o in options if o.get("type") != "null"]
        if len(kept) != 1:
            raise TypeError("a field of an operation has more than one type")
        merged = {**kept[0], **{k: v for k, v in node.items() if k not in ("anyOf", NEVER_NULL)}}
        if self.keep_null and NEVER_NULL not in node and isinstance(merged.get("type"), str):
            merged["type"] = [merged["type"], "null"]
        return merged
