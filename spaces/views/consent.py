"""The page on which a person lets a hosted client in, or doesn't."""

from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode, urlsplit
from uuid import UUID

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods
from oauth2_provider.exceptions import FatalClientError, OAuthToolkitError
from oauth2_provider.http import OAuth2ResponseRedirect
from oauth2_provider.oauth2_backends import OAuthLibCore, get_oauthlib_core
from oauthlib.common import add_params_to_uri
from oauthlib.oauth2.rfc6749 import errors

from accounts.domain.grants import shown_name
from accounts.domain.resources import known_resource, whole_hub
from accounts.models import Application, User
from accounts.models.oauth import LOOPBACK
from accounts.scopes import Scope
from accounts.views.fresh import is_fresh
from memoryhub.common.errors import HubError
from memoryhub.common.text import check_text
from memoryhub.web.forms import form_status
from spaces.domain.consent import Room, consent_to, earlier_grant, rooms_of
from spaces.forms import ConsentForm
from spaces.views.requests import LAST_SPACE

SCHEMES = ("https", "http")
S256 = "S256"


@dataclass(frozen=True)
class Asked:
    """What a client asks for, found to be in order. `sent_to` is the host that its answer goes to."""

    client: Application
    scopes: list[Scope]
    credentials: dict[str, Any]

    @property
    def redirect_uri(self) -> str:
        uri: str = self.credentials["redirect_uri"]
        return uri

    @property
    def sent_to(self) -> str:
        return urlsplit(self.redirect_uri).hostname or ""

    @property
    def is_local(self) -> bool:
        return self.sent_to in LOOPBACK

    @property
    def name(self) -> str:
        return shown_name(self.client)

    @property
    def known_by(self) -> str:
        """The host of the document that tells of the client, where there is one: it can't be made up."""
        is_document = self.client.registration_source == Application.RegistrationSource.CIMD
        return urlsplit(self.client.client_id).hostname or "" if is_document else ""


@never_cache
@require_http_methods(["GET", "POST"])
def authorize(request: HttpRequest) -> HttpResponse:
    """RFC 6749. Everything is in the query, also of the form that is sent; its body holds the person's choice."""
    if not isinstance(request.user, User):
        return redirect(f"{reverse('account_login')}?{urlencode({'next': request.get_full_path()})}")
    core = get_oauthlib_core()
    try:
        asked = what_is_asked(core, request)
        if not is_fresh(request):
            return redirect(
                f"{reverse('account_reauthenticate')}?{urlencode({'next': request.get_full_path()})}"
            )
        return decide(core, request, request.user, asked)
    except OAuthToolkitError as error:
        uri = back_to_client(error)
        return to_client(uri) if uri and is_trusted(request, error) else not_served(request, error, uri)


def what_is_asked(core: OAuthLibCore, request: HttpRequest) -> Asked:
    check_query(request)
    scopes, credentials = core.validate_authorization_request(request)
    if credentials.get("code_challenge_method") != S256:
        complain(credentials, errors.InvalidRequestError, "Send a code_challenge with the method S256.")
    named = [known_resource(uri) for uri in request.GET.getlist("resource")]
    if None in named:
        complain(
            credentials, errors.CustomOAuth2Error, "No such resource is served here.", error="invalid_target"
        )
    credentials["resource"] = list(dict.fromkeys(named)) or [whole_hub()]
    client: Application = credentials["request"].client
    return Asked(client, [Scope(s) for s in scopes], credentials)


def check_query(request: HttpRequest) -> None:
    """Text that nothing could keep is refused before anything looks for it."""
    try:
        check_text(dict(request.GET.lists()))
    except HubError as refusal:
        raise FatalClientError(error=errors.InvalidRequestFatalError(description=refusal.message)) from None


def complain(credentials: dict[str, Any], kind: Any, why: str, **fields: str) -> None:
    """To the client, by way of its redirect."""
    raise OAuthToolkitError(error=kind(description=why, request=credentials["request"], **fields))


def decide(core: OAuthLibCore, request: HttpRequest, user: User, asked: Asked) -> HttpResponse:
    rooms = rooms_of(user, address=request.META.get("REMOTE_ADDR", ""))
    if request.POST.get("decision") == "deny":
        complain(asked.credentials, errors.AccessDeniedError, "The person said no.")
    form = ConsentForm(
        request.POST or None, rooms=rooms, scopes=asked.scopes, initial=chosen(request, user, asked)
    )
    if rooms and form.is_valid():
        return agreed(core, request, rooms, asked, form)
    return asking(request, rooms, asked, form)


def chosen(request: HttpRequest, user: User, asked: Asked) -> dict[str, Any]:
    """As it was when the client was let in before, or else where the person was last."""
    earlier = earlier_grant(user, asked.client)
    granted = [str(scope) for scope in asked.scopes]
    if earlier is None:
        return {"space": request.session.get(LAST_SPACE), "only_here": True, "granted": granted}
    only_here = earlier.space_ids is not None
    return {"space": str(earlier.default_space_id), "only_here": only_here, "granted": granted}


def agreed(
    core: OAuthLibCore, request: HttpRequest, rooms: list[Room], asked: Asked, form: ConsentForm
) -> HttpResponse:
    consent = consent_to(rooms, UUID(form.cleaned_data["space"]), only_here=form.cleaned_data["only_here"])
    credentials = {**asked.credentials, "consent": consent}
    uri, _headers, _body, _status = core.create_authorization_response(
        request, form.cleaned_data["granted"], credentials, allow=True
    )
    return to_client(uri)


def asking(request: HttpRequest, rooms: list[Room], asked: Asked, form: ConsentForm) -> HttpResponse:
    context = {"form": form, "asked": asked, "rooms": rooms}
    response = render(request, "oauth/consent.html", context, status=form_status(form) if rooms else 403)
    response._csp_update = {"form-action": [origin_of(asked)]}  # type: ignore[attr-defined]
    return response


def origin_of(asked: Asked) -> str:
    """Where the answer to the form leads on to, as the policy of the page has to say. It knows no IPv6."""
    parts = urlsplit(asked.redirect_uri)
    return f"{parts.scheme}:" if "[" in parts.netloc else f"{parts.scheme}://{parts.netloc}"


def back_to_client(error: OAuthToolkitError) -> str:
    """With what went wrong and who says so; "" where nobody is known to send it to."""
    fault = error.oauthlib_error
    if isinstance(error, FatalClientError) or not fault.redirect_uri:
        return ""
    uri: str = add_params_to_uri(fault.in_uri(fault.redirect_uri), [("iss", settings.PUBLIC_URL)])
    return uri


def is_trusted(request: HttpRequest, error: OAuthToolkitError) -> bool:
    """Anybody registers a client, so nobody is sent on to one unasked: only who answers its question on our page, or
    has let it in before."""
    if request.method == "POST":
        return True
    client = Application.objects.filter(client_id=error.oauthlib_error.client_id).first()
    return bool(client and isinstance(request.user, User) and earlier_grant(request.user, client))


def to_client(uri: str) -> HttpResponse:
    answer: HttpResponse = OAuth2ResponseRedirect(uri, SCHEMES)
    return answer


def not_served(request: HttpRequest, error: OAuthToolkitError, uri: str) -> HttpResponse:
    """A page for the person, and no redirect. Where the client is known, they may go back to it themselves."""
    context = {"why": plainly(error.oauthlib_error), "uri": uri, "host": urlsplit(uri).hostname or ""}
    return render(request, "oauth/refused.html", context, status=400)


def plainly(fault: errors.OAuth2Error) -> str:
    match fault:
        case errors.InvalidClientIdError() | errors.MissingClientIdError():
            return _(
                "This client is not known here. Remove it in the app that sent you, and connect it anew."
            )
        case errors.InvalidRedirectURIError() | errors.MismatchingRedirectURIError():
            return _("It wants you sent on to an address that is not its own. Nothing was allowed.")
        case _:
            return _("What it asks for is not in order. Nothing was allowed.")
