"""The team itself: what it is called, and its spaces."""

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.translation import gettext as _

from accounts.domain.accounts import access_account, may_rename_account, rename_account
from accounts.scopes import Right
from accounts.views.requests import MemberRequest
from memoryhub.common.errors import Conflict, HubError
from memoryhub.common.odd import visible
from memoryhub.web.forms import form_status, show_refusal
from spaces.domain.access import list_spaces
from spaces.domain.spaces import check_may_create_spaces, create_space
from spaces.forms import NewSpaceForm, TeamForm


def team(request: MemberRequest, account: str) -> HttpResponse:
    """Everybody sees it; who manages the team renames it."""
    form = TeamForm(request.POST or None, initial={"name": access_account(request.actor).name})
    if form.is_valid():
        try:
            rename_account(request.actor, form.cleaned_data["name"])
        except HubError as error:
            show_refusal(form, error)
        else:
            messages.success(request, _("Saved."))
            return redirect("team", account)
    context = {
        "form": form,
        "spaces": list_spaces(request.actor),
        "may_rename": may_rename_account(request.actor),
        "may_make": request.actor.has(Right.MANAGE),
    }
    return render(request, "spaces/team.html", context, status=form_status(form))


def new_space(request: MemberRequest, account: str) -> HttpResponse:
    check_may_create_spaces(request.actor)
    form = NewSpaceForm(request.POST or None, initial={"time_zone": timezone.get_current_timezone_name()})
    if form.is_valid():
        try:
            made = create_space(request.actor, **form.cleaned_data)
        except Conflict as error:
            form.add_error("slug", error.message)
        except HubError as error:
            show_refusal(form, error, timezone="time_zone")
        else:
            messages.success(request, _("“%(name)s” is there.") % {"name": visible(made.name)})
            return redirect("inbox", account, made.slug)
    return render(request, "spaces/new.html", {"form": form}, status=form_status(form))
