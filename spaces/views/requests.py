"""Views of a space: the address names it, and what the actor may not see is absent."""

from collections.abc import Callable
from functools import wraps
from typing import Concatenate, ParamSpec

from django.http import HttpResponse

from accounts.views.requests import MemberRequest
from spaces.domain.access import access_space
from spaces.models import Space

P = ParamSpec("P")


class SpaceRequest(MemberRequest):
    space: Space


def space_view(
    view: Callable[Concatenate[SpaceRequest, P], HttpResponse],
) -> Callable[Concatenate[SpaceRequest, str, str, P], HttpResponse]:
    """Puts the space of /a/<account>/<space>/ into the request; every call after it is meant for that space."""

    @wraps(view)
    def inner(request: SpaceRequest, account: str, space: str, *args: P.args, **kwargs: P.kwargs) -> HttpResponse:
        request.space = access_space(request.actor, space)
        request.actor = request.actor.in_space(space)
        return view(request, *args, **kwargs)

    return inner
