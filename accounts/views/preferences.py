"""How pages look and listen, for one person or one browser. Each is a plain form; scripts only spare the reload."""

from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.views.decorators.http import require_POST

from accounts.domain.preferences import choose_shortcuts
from accounts.views.requests import MemberRequest
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


@require_POST
@login_required
def shortcuts(request: MemberRequest) -> HttpResponse:
    choose_shortcuts(request.user, on=request.POST.get("shortcuts") == "on")
    return redirect(wanted_address(request))
