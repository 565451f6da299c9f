"""REST behind ASGI: Django's request, middleware, view and answer, all of it in one database thread.

Django's own way makes a thread for each request and changes between it and the loop at every middleware that pages
need; that costs several times what a small read does.
"""

from collections.abc import Awaitable, Callable, MutableMapping
from functools import lru_cache
from typing import Any

from csp.middleware import CSPMiddleware
from django.core.exceptions import RequestAborted
from django.core.handlers.asgi import ASGIHandler
from django.core.handlers.base import BaseHandler
from django.core.handlers.exception import convert_exception_to_response
from django.http import HttpRequest, HttpResponse
from django.middleware.clickjacking import XFrameOptionsMiddleware
from django.middleware.common import CommonMiddleware
from django.middleware.security import SecurityMiddleware
from django.urls import Resolver404, ResolverMatch, resolve

from memoryhub.common.threads import in_db_thread
from memoryhub.rest.views import OperationView, UnknownPath

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Any]]
Send = Callable[[Any], Awaitable[None]]

ROOT = "/v1/"
MATCH = "memoryhub.match"
MIDDLEWARE = (SecurityMiddleware, CSPMiddleware, CommonMiddleware, XFrameOptionsMiddleware)


class RestApplication(ASGIHandler):
    """Answers what is an operation's. Other addresses below ROOT, which wait or stream, are Django's as usual."""

    def __init__(self) -> None:
        BaseHandler.__init__(self)
        self.load_middleware()

    def load_middleware(self, is_async: bool = False) -> None:
        self._view_middleware: list[Any] = []
        self._template_response_middleware: list[Any] = []
        self._exception_middleware: list[Any] = []
        handler: Any = convert_exception_to_response(self._get_response)  # type: ignore[attr-defined]
        for middleware in reversed(MIDDLEWARE):
            handler = convert_exception_to_response(middleware(handler))
        self._middleware_chain = handler

    def resolve_request(self, request: HttpRequest) -> ResolverMatch:
        match: ResolverMatch = request.scope[MATCH]  # type: ignore[attr-defined]
        request.resolver_match = match
        return match

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            body = await self.read_body(receive)
        except RequestAborted:
            return
        with body:
            response = await in_db_thread(self._answer, scope, body)
        await send(
            {"type": "http.response.start", "status": response.status_code, "headers": headers(response)}
        )
        await send({"type": "http.response.body", "body": response.content})

    def _answer(self, scope: Scope, body: Any) -> HttpResponse:
        request, refusal = self.create_request(scope, body)
        response = self.get_response(request) if request else refusal
        assert isinstance(response, HttpResponse)
        response.close()
        return response


def operation_at(scope: Scope) -> ResolverMatch | None:
    """What serves the address, if that is an operation."""
    if not scope["path"].startswith(ROOT):
        return None
    try:
        match = resolved(scope["path"])
    except Resolver404:
        return None
    return match if getattr(match.func, "cls", None) in (OperationView, UnknownPath) else None


@lru_cache(1024)
def resolved(path: str) -> ResolverMatch:
    """Django tries one pattern after the other, each time."""
    return resolve(path)


def headers(response: HttpResponse) -> list[tuple[bytes, bytes]]:
    return [(name.encode("ascii"), value.encode("latin1")) for name, value in response.items()]
