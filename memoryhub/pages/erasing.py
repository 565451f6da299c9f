"""Erasing a space or a person: what would go, the typed name, and a receipt."""

from django.http import HttpResponse
from django.shortcuts import render
from django.views.decorators.cache import never_cache

from accounts.views.fresh import fresh_sign_in_required
from accounts.views.requests import MemberRequest
from memoryhub.common.errors import Conflict, Forbidden, ValidationFailed
from memoryhub.flows.erasing import erase_member, erase_space, name_of_member, preview_member, preview_space
from spaces.views.requests import LAST_SPACE, SpaceRequest, space_view

REFUSALS = (ValidationFailed, Conflict, Forbidden)


@never_cache
@fresh_sign_in_required
@space_view
def erase(request: SpaceRequest) -> HttpResponse:
    preview, wrong = preview_space(request.actor, request.space.id), ""
    if request.method == "POST":
        try:
            return _erased(request)
        except REFUSALS as refusal:
            wrong = refusal.message
    context = {"preview": preview, "wrong": wrong}
    return render(request, "data/erase.html", context, status=422 if wrong else 200)


def _erased(request: SpaceRequest) -> HttpResponse:
    name = request.space.name
    receipt = erase_space(request.actor, space=request.space.id, typed=request.POST.get("typed", ""))
    request.session.pop(LAST_SPACE, None)
    del request.space  # so that nothing on the page leads there
    return render(request, "data/erased.html", {"receipt": receipt, "name": name})


@never_cache
@fresh_sign_in_required
def erase_person(request: MemberRequest, account: str, person: str) -> HttpResponse:
    preview, wrong = preview_member(request.actor, person), ""
    name, address = name_of_member(request.actor, person)
    if request.method == "POST":
        try:
            receipt = erase_member(request.actor, person, typed=request.POST.get("typed", ""))
        except REFUSALS as refusal:
            wrong = refusal.message
        else:
            return render(request, "data/person_erased.html", {"receipt": receipt})
    context = {"preview": preview, "wrong": wrong, "name": name, "address": address}
    return render(request, "data/erase_person.html", context, status=422 if wrong else 200)
