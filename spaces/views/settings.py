"""The settings of a space, with a box to try what would be cut from a text."""

from dataclasses import dataclass
from typing import Any

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST

from accounts.middleware import takes_secrets
from accounts.scopes import Right
from memoryhub.common.errors import Conflict, HubError
from memoryhub.common.screening import reasons_to_hold
from memoryhub.common.secrets import cut
from memoryhub.common.secrets.policy import check_always, check_policy
from memoryhub.web.forms import form_status, show_refusal
from spaces.domain.access import access_space
from spaces.domain.spaces import Settings, update_space
from spaces.forms import SettingsForm, TryForm
from spaces.models import Space
from spaces.views.requests import SpaceRequest, space_view


@dataclass(frozen=True)
class Tried:
    """What would become of a text. `refusal` is why nothing of it would be stored."""

    text: str
    categories: list[dict[str, Any]]
    reasons: list[str]
    refusal: str


@space_view
def settings(request: SpaceRequest) -> HttpResponse:
    if request.method != "POST":
        return _show(request, _form_of(request.space))
    form = SettingsForm(request.POST)
    if form.is_valid():
        data = form.cleaned_data
        version = data.pop("version")
        try:
            update_space(request.actor, Settings(**data), expected_version=version, space=request.space.id)
        except Conflict:
            form.add_error(None, _("The settings have changed meanwhile. Load the page again and look."))
        except HubError as error:
            show_refusal(form, error, timezone="time_zone")
        else:
            messages.success(request, _("Saved."))
            return redirect("settings", request.account_slug, request.space.slug)
    return _show(request, form)


@takes_secrets("sample")
@space_view
@require_POST
def try_text(request: SpaceRequest) -> HttpResponse:
    """Nothing of it is kept."""
    form = TryForm(request.POST)
    tried = what_becomes_of(form.cleaned_data["sample"], request.space) if form.is_valid() else None
    return _show(request, _form_of(request.space), trying=TryForm(), tried=tried)


def what_becomes_of(text: str, space: Space) -> Tried:
    found, refusal = cut({"text": text}), ""
    try:
        check_always(found)
        check_policy(found, space.secret_policy)
    except HubError as refused:
        refusal = refused.message
    return Tried(found.value["text"], found.told, reasons_to_hold(text), refusal)


def _form_of(space: Space) -> SettingsForm:
    return SettingsForm(initial={name: getattr(space, name) for name in SettingsForm.base_fields})


def _show(request: SpaceRequest, form: SettingsForm, **more: Any) -> HttpResponse:
    context = {"form": form, "trying": TryForm(), "may_manage": _may_manage(request), **more}
    return render(request, "spaces/settings.html", context, status=form_status(form))


def _may_manage(request: SpaceRequest) -> bool:
    try:
        access_space(request.actor, request.space.id, right=Right.MANAGE)
    except HubError:
        return False
    return True
