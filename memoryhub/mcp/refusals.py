"""Requests that are answered before any protocol message is dispatched."""

import json
from collections.abc import Mapping
from typing import NoReturn

from starlette.responses import Response

from memoryhub.common.errors import HubError


class Refused(Exception):
    """Ends a request with the response it carries."""

    def __init__(self, response: Response) -> None:
        super().__init__(response.status_code)
        self.response = response


def refuse(status: int, code: str, message: str, headers: Mapping[str, str] | None = None) -> NoReturn:
    """Answers with the same error body as every other way in."""
    body = {"error": {"code": code, "message": message}}
    raise Refused(json_response(body, status, headers)) from None


def refuse_for(error: HubError, headers: Mapping[str, str] | None = None) -> NoReturn:
    raise Refused(json_response(error.body(), error.status, headers)) from None


def json_response(body: object, status: int = 200, headers: Mapping[str, str] | None = None) -> Response:
    return Response(encode(body), status, dict(headers) if headers else None, media_type="application/json")


def encode(body: object) -> bytes:
    """Compact JSON. An echoed id may hold half a surrogate pair, which only its escape can carry."""
    try:
        return json.dumps(body, ensure_ascii=False, separators=(",", ":")).encode()
    except UnicodeEncodeError:
        return json.dumps(body, separators=(",", ":")).encode()
