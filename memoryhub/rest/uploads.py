"""Uploads: a file as the whole body of a request, kept on disk while it is read."""

import tempfile
from typing import IO, Any, cast

from django.conf import settings
from rest_framework.parsers import BaseParser
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from accounts.actor import Actor
from accounts.domain.limits import spend_write
from accounts.scopes import Scope
from memoryhub.common.errors import InvalidRequest, PayloadTooLarge
from memoryhub.common.tenancy import tenant
from memoryhub.flows.importing import import_file
from memoryhub.operations.base import check_family

PIECE = 256 * 1024

FLAG = {"type": "string", "enum": ["true", "false", ""]}
ASKED = {
    "space": {"type": "string"},
    "from": {"type": "string"},
    "name": {"type": "string"},
    "dry_run": FLAG,
    "keep": FLAG,
}
COUNT = {"type": "integer", "minimum": 0}
TOLD = {
    "system": {"type": "string"},
    "dry_run": {"type": "boolean"},
    "conflicts": COUNT,
    "counts": {"type": "object", "additionalProperties": {"type": "object", "additionalProperties": COUNT}},
    "lines": {"type": "array", "items": {"type": "object"}},
    "redactions": {"type": "array", "items": {"type": "object"}},
    "left_out": {"type": "array", "items": {"type": "object"}},
}
DESCRIBED = {
    "operationId": "hub.import",
    "summary": "Import",
    "description": "Takes a file into a space: an export of ours or of another system. All of it or nothing.",
    "tags": ["hub"],
    "x-scopes": [str(Scope.SPACE_ADMIN)],
    "parameters": [{"name": n, "in": "query", "required": False, "schema": s} for n, s in ASKED.items()],
    "requestBody": {
        "required": True,
        "content": {"application/octet-stream": {"schema": {"type": "string", "format": "binary"}}},
    },
    "responses": {
        "200": {
            "description": "What became of its rows, or would",
            "content": {
                "application/json": {"schema": {"type": "object", "required": list(TOLD), "properties": TOLD}}
            },
        }
    },
}


class AnyBody(BaseParser):
    """Leaves the body to the view."""

    media_type = "*/*"

    def parse(self, stream: Any, media_type: str | None = None, parser_context: Any = None) -> dict[str, Any]:
        return {}


class ImportView(APIView):
    """`POST /v1/import`: the file as the body; `space`, `from`, `name`, `dry_run` and `keep` in the query."""

    http_method_names = ["post"]
    parser_classes = [AnyBody]

    def post(self, request: Request) -> Response:
        actor, query = cast("Actor", request.user), request.query_params
        check_family(actor, "hub")
        dry_run, keep = _flag("dry_run", query.get("dry_run", "")), _flag("keep", query.get("keep", ""))
        if actor.key_id:
            spend_write(actor.key_id)
        with tempfile.TemporaryFile() as file:
            _receive(request, file)
            with tenant(actor.account_id):
                report = import_file(
                    actor,
                    file,
                    name=query.get("name", ""),
                    space=query.get("space") or None,
                    part=query.get("from", ""),
                    dry_run=dry_run,
                    keep=keep,
                )
        return Response(report.as_dict(), headers=actor.headers)


def _flag(name: str, text: str) -> bool:
    if text not in ("true", "false", ""):
        raise InvalidRequest(f"{name}: Must be true or false. Nothing was imported.")
    return text == "true"


def _receive(request: Request, file: IO[bytes]) -> None:
    size = 0
    while piece := request._request.read(PIECE):
        size += len(piece)
        if size > settings.IMPORT_BYTES:
            raise PayloadTooLarge("The file is too large to be uploaded.", limit=settings.IMPORT_BYTES)
        file.write(piece)
