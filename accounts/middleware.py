"""Pages under /a/<account>/ run as a member of that account, inside its tenant(). Refusals become pages."""

import time
from collections.abc import Callable
from typing import Any

from asgiref.sync import iscoroutinefunction, markcoroutinefunction
from django.conf import settings
from django.contrib import messages
from django.contrib.auth import logout
from django.contrib.auth.views import redirect_to_login
from django.http import HttpRequest, HttpResponse, QueryDict
from django.shortcuts import render
from django.utils.translation import gettext as _

from accounts.actor import Actor
from accounts.domain.accounts import accounts_of, person_actor
from accounts.domain.sessions import note_session
from accounts.models import User
from memoryhub.common.errors import HubError, NotFound
from memoryhub.common.secrets import Cut, cut
from memoryhub.common.secrets.policy import check_always
from memoryhub.common.sizes import check_longest
from memoryhub.common.tenancy import in_tenant
from memoryhub.common.text import check_text

View = Callable[..., HttpResponse]


ASKS_FIRST = "asks_first"
BEGAN_AT, USED_AT = "began_at", "used_at"
USE_NOTED_EVERY = 300  # seconds
TAKES_SECRETS = "takes_secrets"
CSRF_FIELD = "csrfmiddlewaretoken"


def asks_first(view: View) -> View:
    """Marks a view that waits for something outside; its one call opens the account after that.

    It goes outermost, and what it renders must be at hand.
    """
    setattr(view, ASKS_FIRST, True)
    return view


def takes_secrets(*fields: str) -> Callable[[View], View]:
    """Marks a view whose fields of these names are meant to hold secrets: it keeps none of them readable.

    It goes outermost.
    """

    def marked(view: View) -> View:
        setattr(view, TAKES_SECRETS, frozenset(fields))
        return view

    return marked


class TenantPageMiddleware:
    """Comes last: it calls the view itself, so that everything lazy is rendered inside the account.

    Whatever is asynchronous passes through as such, and holds no thread while it waits.
    """

    sync_capable = async_capable = True

    def __init__(self, get_response: Callable[[HttpRequest], Any]) -> None:
        self.get_response = get_response
        if iscoroutinefunction(get_response):
            markcoroutinefunction(self)

    def __call__(self, request: HttpRequest) -> Any:
        return self.get_response(request)

    def process_view(
        self, request: HttpRequest, view: View, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> HttpResponse | None:
        if request.session.session_key and request.user.is_authenticated:
            tend_session(request, time.time())
        if "account" not in kwargs:
            return None
        if not isinstance(request.user, User):
            return redirect_to_login(request.get_full_path())
        try:
            actor = person_actor(request.user, kwargs["account"], address=request.META.get("REMOTE_ADDR", ""))
        except NotFound:
            return no_member_page(request, request.user)
        try:
            check_sent(request, view)
            tell_cut(request)
            return in_account(request, actor, view, args, kwargs)
        except HubError as error:
            return error_page(request, error)

    def process_exception(self, request: HttpRequest, exception: Exception) -> HttpResponse | None:
        """A refusal on a page of no account is told in the same way."""
        return error_page(request, exception) if isinstance(exception, HubError) else None


def tend_session(request: HttpRequest, now: float) -> None:
    """Sign out who signed in too long ago; put off the end of a session in use (SESSION_COOKIE_AGE seconds)."""
    session = request.session
    if now - session.setdefault(BEGAN_AT, now) > settings.SESSION_LONGEST:
        logout(request)
    elif now - session.get(USED_AT, 0) > USE_NOTED_EVERY:
        session[USED_AT] = now
        note_session(request)


def check_sent(request: HttpRequest, view: View) -> None:
    """What no field can hold is refused, and secrets are cut out of all that was sent, before any view reads it."""
    check_longest([dict(request.GET.lists()), dict(request.POST.lists())])
    spared: frozenset[str] = getattr(view, TAKES_SECRETS, frozenset()) | {CSRF_FIELD}
    request.GET, _asked = without_secrets(request.GET, spared)  # type: ignore[assignment]
    request.POST, request.cut = without_secrets(request.POST, spared)  # type: ignore[assignment, attr-defined]
    for sent in (request.GET, request.POST):
        check_text(dict(sent.lists()))


def without_secrets(sent: QueryDict, spared: frozenset[str]) -> tuple[QueryDict, Cut]:
    done = cut({name: values for name, values in sent.lists() if name not in spared})
    if not done.categories:
        return sent, done
    kept = QueryDict(mutable=True, encoding=sent.encoding)
    for name, values in sent.lists():
        if name in spared:
            kept.setlist(name, values)
    for name, values in done.value.items():
        kept.setlist(name, values)
    return kept, done


def tell_cut(request: HttpRequest) -> None:
    """To the person who sent it, on the next page."""
    found: Cut = request.cut  # type: ignore[attr-defined]
    if found.categories:
        check_always(found)
        told = ", ".join(f"{one['count']} × {one['category']}" for one in found.told)
        messages.warning(request, _("Secrets were cut out: %(told)s.") % {"told": told})


def in_account(
    request: HttpRequest, actor: Actor, view: View, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> HttpResponse:
    """Run the view in the account's transaction; a refusal inside it rolls back, and a deadlock starts it anew."""
    request.actor = actor  # type: ignore[attr-defined]

    def answer() -> HttpResponse:
        for _name, files in request.FILES.lists():
            for file in files:
                file.seek(0)
        response = view(request, *args, **kwargs)
        if hasattr(response, "render") and not getattr(response, "is_rendered", True):
            response = response.render()
        return response

    return answer() if getattr(view, ASKS_FIRST, False) else in_tenant(actor.account_id, answer)


def no_member_page(request: HttpRequest, user: User) -> HttpResponse:
    """The same for a team that is not there and for one that its viewer is not in, or no longer."""
    return render(request, "spaces/no_member.html", {"teams": accounts_of(user)}, status=NotFound.status)


def error_page(request: HttpRequest, error: HubError) -> HttpResponse:
    context = {"error": error, "code": error.code, "details": error.details}
    return render(request, "error.html", context, status=error.status)
