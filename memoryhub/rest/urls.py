"""The routes of every registered operation, below /v1/."""

import re
from collections import defaultdict

from django.urls import URLPattern, path, re_path, register_converter
from django.urls.converters import PathConverter

import memoryhub.operations.catalogue  # noqa: F401  (registers every operation)
from memoryhub.operations.base import REGISTRY, Operation
from memoryhub.rest.downloads import ExportView
from memoryhub.rest.events import follow
from memoryhub.rest.openapi import openapi_view
from memoryhub.rest.uploads import ImportView
from memoryhub.rest.views import OperationView, UnknownPath


class RestConverter(PathConverter):
    """The rest of the address, line breaks included: keys are any text."""

    regex = r"[\s\S]+"


register_converter(RestConverter, "rest")

PLACEHOLDER = re.compile(r"\{(\w+)(?::(\w+))?\}")


def django_path(route: str) -> str:
    """`kv/{ns}/{key:path}` is `kv/<str:ns>/<rest:key>`."""
    return PLACEHOLDER.sub(lambda m: f"<{'rest' if m[2] else 'str'}:{m[1]}>", route)


def operations_by_path() -> dict[str, dict[str, Operation]]:
    paths: dict[str, dict[str, Operation]] = defaultdict(dict)
    for operation in REGISTRY.routes():
        assert operation.route is not None
        if operation.route.method in paths[operation.route.path]:
            raise ValueError(f"two operations at {operation.route.method} {operation.route.path}")
        paths[operation.route.path][operation.route.method] = operation
    return paths


def routes() -> list[URLPattern]:
    """Plain paths before those that swallow the rest."""
    found = sorted(
        operations_by_path().items(), key=lambda item: (":path}" in item[0], item[0].count("{"), item[0])
    )
    return [
        path(
            django_path(route),
            OperationView.as_view(operations=operations),
            name=PLACEHOLDER.sub(r"{\1}", route),
        )
        for route, operations in found
    ]


app_name = "v1"
urlpatterns = [
    path("openapi.json", openapi_view, name="openapi"),
    path("events", follow, name="follow-events"),
    path("export", ExportView.as_view(), name="export"),
    path("import", ImportView.as_view(), name="import"),
    *routes(),
    re_path(r"^[\s\S]*$", UnknownPath.as_view(), name="unknown"),
]
