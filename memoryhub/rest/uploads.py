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
from memoryhub.common.errors import InvalidRequest, PayloadTooLarge
from memoryhub.common.tenancy import tenant
from memoryhub.flows.importing import import_file

PIECE = 256 * 1024


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
