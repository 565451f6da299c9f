"""From pydantic models to the flat JSON schemas that every MCP client can read: no $ref, no unions, no titles."""

from copy import deepcopy
from typing import Any

from pydantic import BaseModel

Schema = dict[str, Any]


def input_schema(model: type[BaseModel]) -> Schema:
    return _flat(model.model_json_schema(by_alias=True, mode="validation"))


def output_schema(model: type[BaseModel]) -> Schema:
    return _flat(model.model_json_schema(by_alias=True, mode="serialization"))


def _flat(schema: Schema) -> Schema:
    definitions = schema.pop("$defs", {})
    flat = _resolve(schema, definitions)
    flat.setdefault("properties", {})
    flat.pop("description", None)
    return flat


def _resolve(node: Any, definitions: dict[str, Any]) -> Any:
    if isinstance(node, list):
        return [_resolve(n, definitions) for n in node]
    if not isinstance(node, dict):
        return node
    if "$ref" in node:
        target = deepcopy(definitions[node["$ref"].rsplit("/", 1)[1]])
        return _resolve({**target, **{k: v for k, v in node.items() if k != "$ref"}}, definitions)
    return _one_type(_resolve_members(node, definitions))


def _resolve_members(node: Schema, definitions: dict[str, Any]) -> Schema:
    resolved: Schema = {}
    for key, value in node.items():
        if key == "properties":
            resolved[key] = {name: _resolve(child, definitions) for name, child in value.items()}
        elif key == "title" and isinstance(value, str) or key == "default" and value is None:
            continue
        else:
            resolved[key] = _resolve(value, definitions)
    return resolved


def _one_type(node: Schema) -> Schema:
    """`anyOf: [X, null]` becomes X in an argument (null means absent) and a nullable type in an answer."""
    options = node.get("anyOf")
    if options is None:
        return node
    kept = [o for o in options if o.get("type") != "null"]
    if len(kept) != 1:
        raise TypeError("a field of an operation has more than one type")
    rest = {k: v for k, v in node.items() if k != "anyOf"}
    return {**kept[0], **rest}


def nullable(node: Schema) -> Schema:
    """The same schema, which also accepts null."""
    kind = node.get("type")
    if isinstance(kind, str):
        return {**node, "type": [kind, "null"]}
    return node
