"""How pages look and listen, for one person or one browser. Each is a plain form; scripts only spare the reload."""

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.db import transaction
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_POST

from accounts.domain.preferences import AS_THE_BROWSER, choose_shortcuts, choose_time_zone, rename_person
from accounts.forms import ProfileForm
from accounts.middleware import check_sent, tell_cut
from accounts.views.requests import MemberRequest
from memoryhub.common.errors import HubError
from memoryhub.web.forms import form_status, show_refusal
from memoryhub.web.middleware import THEME_COOKIE, THEMES
from memoryhub.web.redirects import wanted_address

YEAR = 365 * 24 * 3600


@require_POST
def theme(request: HttpRequest) -> HttpResponse:
    response = redirect(wanted_address(request))
    chosen = request.POST.get("theme")
    if chosen in THEMES:
        response.set_cookie(THEME_COOKIE, chosen, max_age=YEAR, samesite="Lax", secure=request.is_secure())
    else:
        response.delete_cookie(THEME_COOKIE, samesite="Lax")
    return response


@never_cache
@login_required
def profile(request: MemberRequest) -> HttpResponse:
    """Name and time zone. What is sent is looked at as on the pages of a team."""
    check_sent(request, profile)
    tell_cut(request)
    user = request.user
    chosen = "" if user.time_zone == AS_THE_BROWSER else user.time_zone
    form = ProfileForm(request.POST or None, initial={"name": user.name, "time_zone": chosen})
    if form.is_valid():
        try:
            with transaction.atomic():
                rename_person(user, form.cleaned_data["name"])
                choose_time_zone(user, form.cleaned_data["time_zone"])
        except HubError as error:
            user.refresh_from_db()
            show_refusal(form, error)
        else:
            messages.success(request, _("Saved."))
            return redirect("profile")
    return render(request, "account/profile.html", {"form": form}, status=form_status(form))


@require_POST
@login_required
def shortcuts(request: MemberRequest) -> HttpResponse:
    choose_shortcuts(request.user, on=request.POST.get("shortcuts") == "on")
    return redirect(wanted_address(request))
