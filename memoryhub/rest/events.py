"""The feed of events with `wait`: asked again until there is something, or the time is over.

Each look is an ordinary call, credential and all. In between this holds neither a connection, nor a
transaction, nor a database thread.
"""

import asyncio
from time import monotonic
from typing import Any

from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.views.decorators.csrf import csrf_exempt
from rest_framework.response import Response

from memoryhub.common.threads import in_db_thread
from memoryhub.operations.hub.events import LONGEST_WAIT, event_list
from memoryhub.rest.views import OperationView

LOOK_EVERY = 0.5

look_view = OperationView.as_view(operations={"GET": event_list})


@csrf_exempt
async def follow(request: HttpRequest, **path: Any) -> HttpResponseBase:
    until = monotonic() + wait_of(request)
    while True:
        response = await in_db_thread(look, request)
        left = until - monotonic()
        if left <= 0 or not is_empty(response):
            return response
        await asyncio.sleep(min(LOOK_EVERY, left))


def look(request: HttpRequest) -> HttpResponseBase:
    response = look_view(request)
    if isinstance(response, Response):
        response.render()
    return response


def is_empty(response: HttpResponseBase) -> bool:
    """A feed without events, rather than a refusal."""
    return isinstance(response, Response) and response.data.get("items") == []


def wait_of(request: HttpRequest) -> int:
    """What doesn't read as a wait is refused by the first look."""
    wait = request.GET.get("wait", "")
    return int(wait) if wait.isascii() and wait.isdigit() and len(wait) <= len(str(LONGEST_WAIT)) else 0
