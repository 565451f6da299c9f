"""Export and import in a browser: what is asked for here, a worker does, and the page shows how far it is."""

from functools import partial
from typing import Any, cast

from django import forms
from django.conf import settings
from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_POST

from accounts.domain.accounts import person_actor
from accounts.domain.names import names_of
from accounts.models import User
from accounts.scopes import Right
from accounts.views.fresh import fresh_sign_in_required, fresh_to_post
from memoryhub.common.errors import HubError
from memoryhub.common.tenancy import tenant
from memoryhub.flows.erasing import people_of
from memoryhub.flows.export import earlier_exports
from memoryhub.flows.transfers import (
    access_transfer,
    cancel_transfer,
    confirm_import,
    content_of,
    list_transfers,
    start_export,
    start_import,
    take_export,
)
from memoryhub.web.forms import form_status, show_refusal
from memoryhub.web.spooled import download
from spaces.models import Transfer
from spaces.views.requests import SpaceRequest, space_view

PIECE = 512 * 1024


def the_list(account: str, space: str, **_kwargs: str) -> str:
    return reverse("data", args=[account, space])


class ImportForm(forms.Form):
    file = forms.FileField(
        label=gettext_lazy("File"),
        help_text=gettext_lazy(
            "An export of Memory Hub, or a file of another system. First you see what would come."
        ),
    )
    part = forms.CharField(
        label=gettext_lazy("Space in the file"),
        max_length=64,
        required=False,
        help_text=gettext_lazy("Only for the export of a whole account: the slug of the space to take."),
    )


@never_cache
@fresh_sign_in_required
@space_view
def data(request: SpaceRequest) -> HttpResponse:
    """Asking for an export is a POST without a file; with one, an import is rehearsed."""
    if request.method == "POST" and "scope" in request.POST:
        start_export(request.actor, request.space, whole_account=request.POST["scope"] == "account")
        return _back(request)
    form = (
        ImportForm(request.POST or None, request.FILES or None) if request.method == "POST" else ImportForm()
    )
    if form.is_valid() and _started(request, form):
        return _back(request)
    context = {
        "form": form,
        "transfers": list_transfers(request.actor, request.space),
        "exports": _earlier(request),
        "erases": request.actor.has(Right.DELETE_SPACE),
        "people": people_of(request.actor),
    }
    return render(request, "data/data.html", context, status=form_status(form))


def _earlier(request: SpaceRequest) -> list[dict[str, Any]]:
    events = earlier_exports(request.actor, request.space)
    names = names_of(request.actor.account_id, (event.actor for event in events))
    return [{"actor": e.actor, "by": names[e.actor], "at": e.at, "whole": e.space_id is None} for e in events]


def _started(request: SpaceRequest, form: ImportForm) -> bool:
    file = form.cleaned_data["file"]
    try:
        start_import(
            request.actor,
            request.space,
            file.chunks(PIECE),
            name=file.name,
            part=form.cleaned_data["part"],
            limit=settings.IMPORT_BYTES,
        )
    except HubError as error:
        show_refusal(form, error)
        return False
    return True


@space_view
def transfer(request: SpaceRequest, transfer: str) -> HttpResponse:
    """One row of the page, which asks for itself again while there is something to wait for."""
    found = access_transfer(request.actor, transfer)
    return render(request, "data/_transfer.html", {"transfer": found})


@space_view
@require_POST
def cancel(request: SpaceRequest, transfer: str) -> HttpResponse:
    cancel_transfer(request.actor, transfer)
    return _back(request)


@fresh_to_post(the_list)
@space_view
@require_POST
def confirm(request: SpaceRequest, transfer: str) -> HttpResponse:
    confirm_import(request.actor, transfer, keep="keep" in request.POST)
    return _back(request)


@never_cache
@fresh_to_post(the_list)
@space_view
@require_POST
def take(request: SpaceRequest, transfer: str) -> HttpResponse:
    """Once. Who is removed while it comes gets no more of it."""
    taken = take_export(request.actor, transfer)
    messages.success(request, _("The export was handed out. It can't be taken again."))
    still = partial(_check_still, request.user, request.account_slug, taken)
    return cast("HttpResponse", download(taken.name, partial(content_of, taken), still))


def _check_still(user: User, account: str, taken: Transfer) -> None:
    actor = person_actor(user, account)
    with tenant(actor.account_id):
        access_transfer(actor, str(taken.id))


def _back(request: SpaceRequest) -> HttpResponse:
    """To where it stands, what came of it included."""
    return redirect(f"{reverse('data', args=[request.account_slug, request.space.slug])}#yours")
