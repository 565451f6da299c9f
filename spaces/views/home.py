from django.contrib.auth.decorators import login_required
from django.http import HttpResponse
from django.shortcuts import redirect, render

from accounts.domain.accounts import accounts_of
from accounts.views.requests import MemberRequest
from spaces.domain.access import list_spaces
from spaces.views.requests import LAST_SPACE


@login_required
def home(request: MemberRequest) -> HttpResponse:
    """To the first team of the person; the page of the team goes on from there."""
    accounts = accounts_of(request.user)
    if not accounts:
        return render(request, "spaces/no_account.html", status=403)
    return redirect("account", accounts[0].slug)


def account_home(request: MemberRequest, account: str) -> HttpResponse:
    spaces = list_spaces(request.actor)
    if not spaces:
        return render(request, "spaces/no_space.html")
    last = request.session.get(LAST_SPACE)
    chosen = next((space for space in spaces if str(space.id) == last), spaces[0])
    return redirect("inbox", account, chosen.slug)
