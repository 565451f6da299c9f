import time

from django.contrib.auth import login
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.cache import never_cache
from django.views.decorators.debug import sensitive_post_parameters

from accounts.domain.invitations import accept_invitation, access_invitation, is_first_owner
from accounts.forms import FirstOwnerForm, OwnerForm
from accounts.views.fresh import JOINED_AT
from memoryhub.common.errors import HubError, NotFound
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
    kind = FirstOwnerForm if is_first_owner(invitation) else OwnerForm
    form = kind(request.POST or None, initial={"email": invitation.email, "team": invitation.account.name})
    if form.is_valid():
        try:
            user = accept_invitation(token, **form.cleaned_data)
        except HubError as error:
            show_refusal(form, error)
        else:
            login(request, user, backend=BACKEND)
            request.session[JOINED_AT] = time.time()
            return redirect("connect", invitation.account.slug)
    context = {"form": form, "invitation": invitation}
    return render(request, "welcome/owner.html", context, status=form_status(form))
