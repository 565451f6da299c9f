"""Agent keys, and the page that connects an agent with a new one."""

from typing import Any

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_POST

from accounts.domain.acting import end_own
from accounts.domain.grants import list_grants, revoke_grant
from accounts.domain.keys import (
    NewKey,
    access_key,
    change_key,
    check_may_make_keys,
    create_key,
    list_keys,
    revoke_key,
    rotate_key,
)
from accounts.domain.resources import whole_hub
from accounts.forms import KeyChangeForm, KeyForm
from accounts.models import AgentKey
from accounts.scopes import KEY_MAKERS
from accounts.views.fresh import fresh_sign_in_required, fresh_to_post
from accounts.views.requests import MemberRequest
from memoryhub.common.errors import HubError
from memoryhub.common.odd import visible
from memoryhub.web.forms import form_status, show_refusal
from spaces.domain.access import access_space, list_spaces
from spaces.views.clients import configurations
from spaces.views.requests import LAST_SPACE


def the_list(account: str, **_kwargs: str) -> str:
    return reverse("keys", args=[account])


def the_overview(**_kwargs: str) -> str:
    return reverse("acting")


def keys(request: MemberRequest, account: str) -> HttpResponse:
    names = {space.id: space.name for space in list_spaces(request.actor)}
    rows = [
        {"key": key, "space": names.get(key.default_space_id)}  # type: ignore[arg-type]
        for key in list_keys(request.actor)
    ]
    live = [row for row in rows if row["key"].is_live]  # type: ignore[union-attr]
    ended = [row for row in rows if not row["key"].is_live]  # type: ignore[union-attr]
    grants = [{"grant": g, "space": names.get(g.default_space_id)} for g in list_grants(request.actor)]
    context = {
        "live": live,
        "ended": ended,
        "may_make": request.actor.role in KEY_MAKERS,
        "grants": [row for row in grants if row["grant"].is_live],  # type: ignore[union-attr]
        "mcp_url": whole_hub(),
    }
    return render(request, "keys/list.html", context)


@never_cache
@fresh_sign_in_required
def new_key(request: MemberRequest, account: str) -> HttpResponse:
    return _make(request, "keys/new.html")


@never_cache
@fresh_sign_in_required
def connect(request: MemberRequest, account: str) -> HttpResponse:
    """The second step of the welcome: the key that is there already, such as the one that `up` printed, or a first."""
    mine = [key for key in list_keys(request.actor) if key.is_live and key.created_by_id == request.user.id]
    return _make(request, "welcome/connect.html", there=mine[-1] if mine else None)


def _make(request: MemberRequest, template: str, **more: object) -> HttpResponse:
    check_may_make_keys(request.actor)
    form = _form(request)
    if form.is_valid():
        try:
            made = _create(request, form.cleaned_data, form)
        except HubError as error:
            show_refusal(form, error)
        else:
            context = {
                "made": made,
                "configurations": configurations(made.secret),
                "first": "welcome" in template,
            }
            return render(request, "keys/made.html", context)
    return render(request, template, {"form": form, **more}, status=form_status(form))


def _form(request: MemberRequest) -> KeyForm:
    spaces = [(str(space.id), visible(space.name)) for space in list_spaces(request.actor)]
    return KeyForm(request.POST or None, spaces=spaces, initial={"space": request.session.get(LAST_SPACE)})


def _create(request: MemberRequest, data: dict[str, Any], form: KeyForm) -> NewKey:
    space = access_space(request.actor, data["space"])
    return create_key(
        request.actor,
        name=data["name"],
        preset=form.chosen_preset,
        scopes=form.chosen_scopes,
        default_space_id=space.id,
        space_ids=[space.id] if data["only_here"] else None,
        families=form.families,
        profile=data["profile"] or "generic",
        expires_at=form.expiry(),
        addresses=data["addresses"],
        device_label=data["device"],
    )


@never_cache
@fresh_sign_in_required
def change(request: MemberRequest, account: str, key: str) -> HttpResponse:
    """What it may do, where, from where and until when."""
    found = access_key(request.actor, key)
    check_may_make_keys(request.actor)
    form = _change_form(request, found)
    if form.is_valid():
        try:
            changed = change_key(request.actor, key, form.change())
        except HubError as error:
            show_refusal(form, error)
        else:
            messages.success(request, _("“%(name)s” is changed. It holds now.") % {"name": changed.name})
            return redirect("keys", account)
    return render(request, "keys/change.html", {"form": form, "key": found}, status=form_status(form))


def _change_form(request: MemberRequest, key: AgentKey) -> KeyChangeForm:
    initial = {
        "name": key.name,
        "scopes": key.scopes,
        "families": key.families,
        "space": str(key.default_space_id or ""),
        "spaces": [str(id) for id in key.space_ids or []],
        "expires_on": key.expires_at and timezone.localdate(key.expires_at),
        "addresses": [str(address) for address in key.addresses],
        "device": key.device_label,
    }
    spaces = [(str(space.id), visible(space.name)) for space in list_spaces(request.actor)]
    return KeyChangeForm(request.POST or None, of_spaces=spaces, initial=initial)


@never_cache
@fresh_sign_in_required
def rotate(request: MemberRequest, account: str, key: str) -> HttpResponse:
    """Asks first; then the new secret is on the answer, this once."""
    found = access_key(request.actor, key)
    check_may_make_keys(request.actor)
    if request.method != "POST":
        return render(request, "keys/rotate.html", {"key": found})
    made = rotate_key(request.actor, key)
    context = {"made": made, "configurations": configurations(made.secret), "first": False, "old": found}
    return render(request, "keys/made.html", context)


def first_call(request: MemberRequest, account: str, key: str) -> HttpResponse:
    """The part of the page that waits for the key's first use."""
    return render(request, "keys/_first_call.html", {"key": access_key(request.actor, key)})


@require_POST
@fresh_to_post(the_list)
def revoke(request: MemberRequest, account: str, key: str) -> HttpResponse:
    ended = revoke_key(request.actor, key)
    messages.success(request, _("“%(name)s” is revoked. It stops working now.") % {"name": ended.name})
    return redirect("keys", account)


@require_POST
@fresh_to_post(the_overview)
def end_mine(request: MemberRequest, account: str) -> HttpResponse:
    """For who no longer knows who has what: everything that acts for them in this team."""
    keys, clients = end_own(request.actor)
    told = {"keys": keys, "clients": clients}
    messages.success(
        request, _("Ended here: keys %(keys)d, clients %(clients)d. They have no access now.") % told
    )
    return redirect("acting")


@require_POST
@fresh_to_post(the_list)
def disconnect(request: MemberRequest, account: str, grant: str) -> HttpResponse:
    ended = revoke_grant(request.actor, grant)
    messages.success(
        request,
        _("“%(name)s” is disconnected. It has no access from now on.") % {"name": visible(ended.name)},
    )
    return redirect("keys", account)
