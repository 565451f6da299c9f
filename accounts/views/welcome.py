import time

from django.contrib.auth import login
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.cache import never_cache
from django.views.decorators.debug import sensitive_post_parameters

from accounts.domain.invitations import (
    accept_invitation,
    access_invitation,
    check_is_for,
    is_first_owner,
    is_known,
    join,
)
from accounts.domain.letters import LETTER
from accounts.forms import FirstOwnerForm, OwnerForm
from accounts.models import Invitation, User
from accounts.scopes import KEY_MAKERS, Role
from accounts.views.fresh import JOINED_AT
from memoryhub.common.errors import Forbidden, HubError, NotFound
from memoryhub.web.forms import form_status, show_refusal

BACKEND = "allauth.account.auth_backends.AuthenticationBackend"


@never_cache
@sensitive_post_parameters("password")
def welcome(request: HttpRequest, token: str) -> HttpResponse:
    """Behind the one-time link: whoever holds it becomes the owner (or the member) it was made for."""
    try:
        invitation = access_invitation(token)
    except NotFound:
        return render(request, "welcome/used.html", status=410)
    if isinstance(request.user, User):
        return _join(request, request.user, invitation, token)
    form = _form(request, invitation)
    if form.is_valid():
        try:
            user = accept_invitation(token, **form.cleaned_data, letter=request.GET.get(LETTER, ""))
        except HubError as error:
            show_refusal(form, error)
        else:
            login(request, user, backend=BACKEND)
            request.session[JOINED_AT] = time.time()
            return redirect(*_first_page(invitation))
    context = {"form": form, "invitation": invitation, "known": is_known(invitation.email)}
    return render(request, "welcome/owner.html", context, status=form_status(form))


def _form(request: HttpRequest, invitation: Invitation) -> OwnerForm:
    kind = FirstOwnerForm if is_first_owner(invitation) else OwnerForm
    form = kind(request.POST or None, initial={"email": invitation.email, "team": invitation.account.name})
    if invitation.email:
        form.fields["email"].disabled = True
    return form


def _join(request: HttpRequest, user: User, invitation: Invitation, token: str) -> HttpResponse:
    """Somebody who is here already says that they want to be in this team too."""
    letter = request.GET.get(LETTER, "")
    if request.method == "POST":
        join(token, user, letter=letter)
        return redirect(*_first_page(invitation))
    context = {"invitation": invitation, "why_not": _why_not(invitation, user, letter)}
    return render(request, "welcome/join.html", context)


def _why_not(invitation: Invitation, user: User, letter: str) -> str:
    try:
        check_is_for(invitation, user, letter)
    except Forbidden as refusal:
        return refusal.message
    return ""


def _first_page(invitation: Invitation) -> tuple[str, str]:
    """Who makes keys is shown how to connect an agent."""
    makes_keys = Role(invitation.role) in KEY_MAKERS
    return "connect" if makes_keys else "account", invitation.account.slug
