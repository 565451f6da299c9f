"""OpenAPI 3.1, made from the registry: what is served is what is described."""

import re
from functools import cache
from typing import Any

from django.conf import settings
from django.http import HttpRequest, JsonResponse

from memoryhub.operations.base import REGISTRY, Operation
from memoryhub.rest import downloads, uploads

ERROR = {
    "type": "object",
    "required": ["error"],
    "properties": {
        "error": {
            "type": "object",
            "required": ["code", "message"],
            "properties": {
                "code": {"type": "string"},
                "message": {"type": "string"},
                "details": {"type": "object"},
            },
        }
    },
}
REFUSED = {
    "description": "Refused",
    "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Error"}}},
}


FILES: list[tuple[str, str, dict[str, Any]]] = [
    ("/export", "get", downloads.DESCRIBED),
    ("/import", "post", uploads.DESCRIBED),
]
"""Addresses that stream files, and are no operations."""


def openapi_view(request: HttpRequest) -> JsonResponse:
    return JsonResponse(document())


@cache
def document() -> dict[str, Any]:
    return {
        "openapi": "3.1.0",
        "info": {"title": "Memory Hub", "version": settings.VERSION},
        "servers": [{"url": f"{settings.PUBLIC_URL}/v1"}],
        "security": [{"bearer": []}, {"apiKey": []}],
        "paths": paths(),
        "components": {
            "schemas": {"Error": ERROR},
            "securitySchemes": {
                "bearer": {"type": "http", "scheme": "bearer"},
                "apiKey": {"type": "apiKey", "in": "header", "name": "X-API-Key"},
            },
        },
    }


def paths() -> dict[str, dict[str, Any]]:
    described = {path: {method: {**told, "responses": {**told["responses"], "default": REFUSED}}}
                 for path, method, told in FILES}  # fmt: skip
    for operation in REGISTRY.routes():
        assert operation.route is not None
        path = "/" + re.sub(r":\w+\}", "}", operation.route.path)
        described.setdefault(path, {})[operation.route.method.lower()] = describe(operation)
    return described


def describe(operation: Operation) -> dict[str, Any]:
    assert operation.route is not None
    answer = {"application/json": {"schema": operation.output_schema}}
    described: dict[str, Any] = {
        "operationId": f"{operation.family}.{operation.name}",
        "summary": operation.title,
        "description": operation.description,
        "tags": [operation.family],
        "x-scopes": [str(s) for s in operation.scopes],
        "parameters": parameters(operation),
        "responses": {
            **{str(status): {"description": said, "content": answer} for status, said in outcomes(operation)},
            "default": REFUSED,
        },
    }
    if body := request_body(operation):
        described["requestBody"] = body
    return described


def outcomes(operation: Operation) -> list[tuple[int, str]]:
    """What may be created may be there already, and is answered with another status then."""
    assert operation.route is not None
    if (
        operation.route.status == 201
        and {"created", "duplicate"} & operation.output_schema["properties"].keys()
    ):
        return [(201, "Created"), (200, "It was there already")]
    return [(operation.route.status, "Done")]


def in_path(operation: Operation) -> list[str]:
    return re.findall(r"\{(\w+)", operation.route.path) if operation.route else []


def takes_body(operation: Operation) -> bool:
    return operation.route is not None and operation.route.method not in ("GET", "DELETE")


def parameters(operation: Operation) -> list[dict[str, Any]]:
    names = in_path(operation) if takes_body(operation) else list(operation.arguments)
    return [
        {
            "name": name,
            "in": "path" if name in in_path(operation) else "query",
            "required": name in in_path(operation) or name in operation.input_schema.get("required", []),
            "schema": operation.arguments.get(name, {"type": "string"}),
        }
        for name in dict.fromkeys([*in_path(operation), *names])
    ]


def request_body(operation: Operation) -> dict[str, Any] | None:
    if not takes_body(operation):
        return None
    properties = {n: s for n, s in operation.arguments.items() if n not in in_path(operation)}
    required = [n for n in operation.input_schema.get("required", []) if n in properties]
    schema = {"type": "object", "properties": properties, **({"required": required} if required else {})}
    return {"required": bool(required), "content": {"application/json": {"schema": schema}}}
