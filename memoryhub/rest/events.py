"""The feed of events with `wait`: asked again when there may be something, until the time is over.

Each look is an ordinary call, credential and all. In between this holds neither a connection, nor a
transaction, nor a database thread.
"""

from time import monotonic
from typing import Any

from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.views.decorators.csrf import csrf_exempt
from rest_framework.response import Response

from accounts.actor import Actor
from memoryhub.common import live
from memoryhub.common.threads import in_db_thread
from memoryhub.operations.hub.events import LONGEST_WAIT, event_list
from memoryhub.rest.views import OperationView

LOOK_ANYWAY_SECONDS = 5.0

look_view = OperationView.as_view(operations={"GET": event_list})


@csrf_exempt
async def follow(request: HttpRequest, **path: Any) -> HttpResponseBase:
    until = monotonic() + wait_of(request)
    response = await in_db_thread(look, request)
    if not is_empty(response) or monotonic() >= until:
        return response
    return await look_until(until, request, actor_of(response))


async def look_until(until: float, request: HttpRequest, actor: Actor) -> HttpResponseBase:
    """Looks at once, for what came before the hints did; now and then without a hint, should one be lost."""
    async with live.hints(live.followers(actor.account_id)) as next_hint:
        while True:
            response = await in_db_thread(look, request)
            left = until - monotonic()
            if not is_empty(response) or left <= 0:
                return response
            await next_hint(min(left, LOOK_ANYWAY_SECONDS))


def look(request: HttpRequest) -> HttpResponseBase:
    response = look_view(request)
    if isinstance(response, Response):
        response.render()
    return response


def is_empty(response: HttpResponseBase) -> bool:
    """A feed without events, rather than a refusal."""
    return isinstance(response, Response) and response.data.get("items") == []


def actor_of(response: Any) -> Actor:
    """Who was found to be asking."""
    actor: Actor = response.renderer_context["request"].user
    return actor


def wait_of(request: HttpRequest) -> int:
    """What doesn't read as a wait is refused by the first look."""
    wait = request.GET.get("wait", "")
    return int(wait) if wait.isascii() and wait.isdigit() and len(wait) <= len(str(LONGEST_WAIT)) else 0
