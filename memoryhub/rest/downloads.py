"""Downloads: plain streaming, since no answer of an operation could hold them."""

from functools import partial
from typing import cast

from django.http import HttpRequest, StreamingHttpResponse
from rest_framework.request import Request
from rest_framework.views import APIView

from accounts.actor import Actor
from accounts.domain.credentials import look_again
from accounts.domain.resources import rest_api
from accounts.scopes import Scope
from memoryhub.common.errors import InvalidRequest
from memoryhub.common.tenancy import tenant
from memoryhub.flows.export import Export, check_export, open_export, stream_export
from memoryhub.operations.base import check_family
from memoryhub.rest.auth import lower_headers
from memoryhub.web.spooled import download

ACCOUNT = "account"

DESCRIBED = {
    "operationId": "hub.export",
    "summary": "Export",
    "description": "The space of the call as a ZIP, or everything of the account. It is written while it is read.",
    "tags": ["hub"],
    "x-scopes": [str(Scope.EXPORT_READ)],
    "parameters": [
        {
            "name": "scope",
            "in": "query",
            "required": False,
            "schema": {"type": "string", "enum": ["space", ACCOUNT]},
        },
        {"name": "space", "in": "query", "required": False, "schema": {"type": "string"}},
    ],
    "responses": {
        "200": {
            "description": "The ZIP",
            "content": {"application/zip": {"schema": {"type": "string", "format": "binary"}}},
        }
    },
}


class ExportView(APIView):
    """`GET /v1/export`: the space of the call as a ZIP, or with `scope=account` everything of the account."""

    http_method_names = ["get"]

    def get(self, request: Request) -> StreamingHttpResponse:
        scope = request.query_params.get("scope", "space")
        if scope not in ("space", ACCOUNT):
            raise InvalidRequest("scope: Must be `space` or `account`.")
        actor, space = cast("Actor", request.user), request.query_params.get("space") or None
        check_family(actor, "hub")
        with tenant(actor.account_id):
            export = open_export(actor, space, whole_account=scope == ACCOUNT)
        still = partial(_check_still, request._request, export)
        response = download(export.name, partial(stream_export, export), still)
        for name, value in actor.headers.items():
            response[name] = value
        return response


def _check_still(request: HttpRequest, export: Export) -> None:
    """The credential is looked at anew: who was removed meanwhile gets no more of it."""
    address = request.META.get("REMOTE_ADDR", "")
    actor = look_again(lower_headers(request), address=address, resource=rest_api())
    with tenant(actor.account_id):
        check_export(actor, export)
