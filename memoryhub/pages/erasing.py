"""Erasing a space: what would go, its typed name, and a receipt."""

from django.http import HttpResponse
from django.shortcuts import render
from django.views.decorators.cache import never_cache

from accounts.views.fresh import fresh_sign_in_required
from memoryhub.common.errors import Conflict, ValidationFailed
from memoryhub.flows.erasing import erase_space, preview_space
from spaces.views.requests import LAST_SPACE, SpaceRequest, space_view


@never_cache
@fresh_sign_in_required
@space_view
def erase(request: SpaceRequest) -> HttpResponse:
    preview, wrong = preview_space(request.actor, request.space.id), ""
    if request.method == "POST":
        try:
            return _erased(request)
        except (ValidationFailed, Conflict) as refusal:
            wrong = refusal.message
    context = {"preview": preview, "wrong": wrong}
    return render(request, "data/erase.html", context, status=422 if wrong else 200)


def _erased(request: SpaceRequest) -> HttpResponse:
    name = request.space.name
    receipt = erase_space(request.actor, space=request.space.id, typed=request.POST.get("typed", ""))
    request.session.pop(LAST_SPACE, None)
    del request.space  # so that nothing on the page leads there
    return render(request, "data/erased.html", {"receipt": receipt, "name": name})
