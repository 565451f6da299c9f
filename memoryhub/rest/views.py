"""One view over the registry: a path's operations by method; arguments = path ∪ (query or body)."""

import re
from typing import Any, cast
from urllib.parse import unquote_to_bytes

from django.conf import settings
from django.http import HttpRequest, QueryDict
from rest_framework.exceptions import MethodNotAllowed
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from accounts.actor import Actor
from memoryhub.common.errors import HubError, InvalidRequest, NotFound, PayloadTooLarge, ValidationFailed
from memoryhub.common.text import parse_json
from memoryhub.operations.base import Operation

ETAG = re.compile(r'(?:W/)?"?(\d{1,18})"?')
READS = ("GET", "HEAD")


class OperationView(APIView):
    operations: dict[str, Operation] = {}

    def handle(self, request: Request, **path: str) -> Response:
        operation = self.operations.get("GET" if request.method == "HEAD" else request.method or "")
        if operation is None or operation.route is None:
            raise MethodNotAllowed(request.method or "")
        check_address(request._request)
        arguments = {**sent_arguments(request, operation), **path, **if_match(request, operation)}
        actor = cast("Actor", request.user)
        answer = operation(actor, arguments)
        headers = {**actor.headers, **etag(answer)}
        return Response(answer, status=status_of(operation, answer), headers=headers)

    get = head = post = put = patch = delete = handle

    @property
    def allowed_methods(self) -> list[str]:
        return sorted(self.operations)


class NoSuchPath(NotFound):
    """An address, unlike a thing, is no secret."""

    def __init__(self) -> None:
        HubError.__init__(self, "Nothing is at this path. The paths there are: GET /v1/openapi.json.")


class UnknownPath(APIView):
    def handle(self, request: Request, **path: str) -> Response:
        raise NoSuchPath

    get = head = post = put = patch = delete = handle


def check_address(request: HttpRequest) -> None:
    """Its escapes have to be UTF-8: read as something else, they would name something else."""
    raw_path = getattr(request, "scope", {}).get("raw_path") or b""
    try:
        for part in (raw_path, request.META.get("QUERY_STRING", "")):
            unquote_to_bytes(part).decode()
    except UnicodeDecodeError:
        raise InvalidRequest("The address has escapes that are not UTF-8. Send text in UTF-8.") from None


def sent_arguments(request: Request, operation: Operation) -> dict[str, Any]:
    if request.method in READS or (request.method == "DELETE" and not request._request.body):
        return query_arguments(request.query_params, operation)
    body = read_body(request)
    if not isinstance(body, dict):
        raise InvalidRequest("The request body must be a JSON object.")
    return body


def read_body(request: Request) -> Any:
    raw = request._request.body
    if len(raw) > settings.BODY_LIMIT:
        raise PayloadTooLarge("The request body is too large; the limit is 1 MiB.", limit=settings.BODY_LIMIT)
    if not raw.strip():
        return {}
    kind = (request.content_type or "").partition(";")[0].strip().lower()
    if kind != "application/json" and not kind.endswith("+json"):
        raise InvalidRequest("Send the request body as JSON, with Content-Type: application/json.")
    return parse_json(raw)


def query_arguments(query: QueryDict, operation: Operation) -> dict[str, Any]:
    """Text as sent; an argument that takes a list may be repeated, and an empty one counts as absent."""
    return {
        name: sent if takes_list(operation, name) and not sent[0].startswith("[") else sent[-1]
        for name, sent in query.lists()
        if sent[-1] != "" or takes_empty(operation, name)
    }


def takes_list(operation: Operation, name: str) -> bool:
    return operation.arguments.get(name, {}).get("type") == "array"


def takes_empty(operation: Operation, name: str) -> bool:
    return operation.arguments.get(name, {}).get("type") == "string"


def if_match(request: Request, operation: Operation) -> dict[str, Any]:
    """`If-Match: "3"` is `expected_version: 3`."""
    header = request.headers.get("If-Match")
    if header is None or header.strip() == "*" or "expected_version" not in operation.arguments:
        return {}
    match = ETAG.fullmatch(header.strip())
    if match is None:
        raise ValidationFailed({"If-Match": ['Must be a version in quotes, such as "3".']})
    return {"expected_version": int(match[1])}


def status_of(operation: Operation, answer: dict[str, Any]) -> int:
    """An operation that may find the thing there already answers 200 then."""
    assert operation.route is not None
    there_already = answer.get("created") is False or answer.get("duplicate") is True
    return 200 if there_already else operation.route.status


def etag(answer: dict[str, Any]) -> dict[str, str]:
    """The version of the one object that an answer is about."""
    objects = [answer, *(v for v in answer.values() if isinstance(v, dict))]
    versions = [o["version"] for o in objects if isinstance(o.get("version"), int)]
    return {"ETag": f'"{versions[0]}"'} if len(versions) == 1 else {}
