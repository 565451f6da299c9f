"""Some things are only for who has just shown that they are themselves: making keys is one.

Every form of the hub says in tests/matrix/asking_again.py whether it asks.
"""

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
        return to_the_password(request, request.get_full_path())

    return inner


def fresh_to_post(
    back: Callable[..., str],
) -> Callable[[Callable[..., R]], Callable[..., R | HttpResponse]]:
    """The same for a view that only takes a form: afterwards its person is where the form is, `back(**kwargs)`.

    It goes outermost, where the address is still whole.
    """

    def decorate(view: Callable[..., R]) -> Callable[..., R | HttpResponse]:
        @wraps(view)
        def inner(request: HttpRequest, *args: Any, **kwargs: Any) -> R | HttpResponse:
            if request.method == "POST" and not is_fresh(request):
                return ask_again(request, back(**kwargs))
            return view(request, *args, **kwargs)

        return inner

    return decorate


def ask_again(request: HttpRequest, back: str) -> HttpResponse:
    """In place of what was sent: to the password, and then to where it was sent from."""
    messages.info(request, _("Show first who you are, then do it again. Nothing was changed."))
    return to_the_password(request, back)


def to_the_password(request: HttpRequest, back: str) -> HttpResponse:
    there = f"{reverse('account_reauthenticate')}?{urlencode({'next': back})}"
    if "HX-Request" in request.headers:
        return HttpResponse(headers={"HX-Redirect": there})
    return redirect(there)


def is_fresh(request: HttpRequest) -> bool:
    records = get_authentication_records(request, request.user)
    latest = max([record["at"] for record in records] + [request.session.get(JOINED_AT, 0)])
    return bool(time.time() - latest < FRESH_SECONDS)
