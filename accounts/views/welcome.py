import time
from urllib.parse import urlencode

from django.contrib import messages
from django.contrib.auth import login
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.debug import sensitive_post_parameters

from accounts.domain.invitations import (
    accept_invitation,
    access_invitation,
    check_is_for,
    is_first_owner,
    join,
    joined_by,
)
from accounts.domain.letters import LETTER
from accounts.forms import FirstOwnerForm, OwnerForm
from accounts.models import Account, Invitation, User
from accounts.scopes import KEY_MAKERS, Role
from accounts.views.fresh import JOINED_AT
from memoryhub.common.errors import Forbidden, HubError, NotFound
from memoryhub.web.forms import form_status, show_refusal

BACKEND = "allauth.account.auth_backends.AuthenticationBackend"


@never_cache
@sensitive_post_parameters("password")
def welcome(request: HttpRequest, token: str) -> HttpResponse:
    """Behind the one-time link: whoever holds it becomes the owner (or the member) it was made for."""
    user = request.user if isinstance(request.user, User) else None
    try:
        invitation = access_invitation(token, user)
    except NotFound:
        return _used(request, token, user)
    if user:
        return _join(request, user, invitation, token)
    form, first = _form(request, invitation), is_first_owner(invitation)
    if form.is_valid():
        try:
            made = accept_invitation(token, **form.cleaned_data, letter=request.GET.get(LETTER, ""))
        except HubError as error:
            show_refusal(form, error)
        else:
            return _go_in(request, made if first else None, invitation)
    context = {"form": form, "invitation": invitation}
    return render(request, "welcome/owner.html", context, status=form_status(form))


def _go_in(request: HttpRequest, first: User | None, invitation: Invitation) -> HttpResponse:
    """The first owner of a team is in at once. Whose address is new signs in as who has had theirs for long does: what
    is answered tells nobody which it was."""
    if first:
        login(request, first, backend=BACKEND)
        request.session[JOINED_AT] = time.time()
        return redirect(*_first_page(Role.OWNER, invitation.account))
    messages.info(request, _("Now sign in with that address and its password, and you are in."))
    return redirect(f"{reverse('account_login')}?{urlencode({'next': request.get_full_path()})}")


def _used(request: HttpRequest, token: str, user: User | None) -> HttpResponse:
    if user and (member := joined_by(token, user)):
        return redirect(*_first_page(Role(member.role), member.account))
    return render(request, "welcome/used.html", status=410)


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
        account = join(token, user, letter=letter)
        return redirect(*_first_page(Role(invitation.role), account))
    context = {"invitation": invitation, "why_not": _why_not(invitation, user, letter)}
    return render(request, "welcome/join.html", context)


def _why_not(invitation: Invitation, user: User, letter: str) -> str:
    try:
        check_is_for(invitation, user, letter)
    except Forbidden as refusal:
        return refusal.message
    return ""


def _first_page(role: Role, account: Account) -> tuple[str, str]:
    """Who makes keys is shown how to connect an agent."""
    return "connect" if role in KEY_MAKERS else "account", account.slug
