"""Views of a space: the address names it, and what the actor may not see is absent."""

from collections.abc import Callable
from functools import wraps
from typing import Concatenate, ParamSpec

from django.http import HttpResponse

from accounts.views.requests import MemberRequest
from spaces.domain.access import access_space
from spaces.domain.secrets import check_secrets
from spaces.models import Space

P = ParamSpec("P")
LAST_SPACE = "last_space"


class SpaceRequest(MemberRequest):
    space: Space
    account_slug: str
    waiting: int
    """How many actions wait for the person, where the view has counted them for itself."""


def space_view(
    view: Callable[Concatenate[SpaceRequest, P], HttpResponse],
) -> Callable[..., HttpResponse]:
    """Puts the space of /a/<account>/<space>/ into the request; every call after it is meant for that space."""

    @wraps(view)
    def inner(
        request: SpaceRequest, account: str, space: str, *args: P.args, **kwargs: P.kwargs
    ) -> HttpResponse:
        request.space, request.account_slug = access_space(request.actor, space), account
        request.actor = request.actor.in_space(space)
        check_secrets(request.cut, request.space)
        if request.session.get(LAST_SPACE) != str(request.space.id):
            request.session[LAST_SPACE] = str(request.space.id)
        return view(request, *args, **kwargs)

    return inner
