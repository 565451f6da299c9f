"""Some things are only for who has just shown that they are themselves: making keys is one."""

import time
from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar
from urllib.parse import urlencode

from allauth.account.authentication import get_authentication_records
from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import redirect
from django.urls import reverse
from django.utils.translation import gettext as _

FRESH_SECONDS = 300
JOINED_AT = "joined_at"  # signing in by a welcome link is no sign-in of allauth's

R = TypeVar("R", bound=HttpResponseBase)


def fresh_sign_in_required(view: Callable[..., R]) -> Callable[..., R | HttpResponse]:
    """Asks for the password again unless it was given in this session within five minutes."""

    @wraps(view)
    def inner(request: HttpRequest, *args: Any, **kwargs: Any) -> R | HttpResponse:
        if is_fresh(request):
            return view(request, *args, **kwargs)
        query = urlencode({"next": request.get_full_path()})
        return redirect(f"{reverse('account_reauthenticate')}?{query}")

    return inner


def fresh_to_post(
    back: Callable[..., str],
) -> Callable[[Callable[..., HttpResponse]], Callable[..., HttpResponse]]:
    """The same for a view that only takes a form: afterwards its person is where the form is, `back(**kwargs)`."""

    def decorate(view: Callable[..., HttpResponse]) -> Callable[..., HttpResponse]:
        @wraps(view)
        def inner(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
            if is_fresh(request):
                return view(request, *args, **kwargs)
            messages.info(request, _("Show first who you are, then do it again. Nothing was changed."))
            return redirect(f"{reverse('account_reauthenticate')}?{urlencode({'next': back(**kwargs)})}")

        return inner

    return decorate


def is_fresh(request: HttpRequest) -> bool:
    records = get_authentication_records(request, request.user)
    latest = max([record["at"] for record in records] + [request.session.get(JOINED_AT, 0)])
    return bool(time.time() - latest < FRESH_SECONDS)
