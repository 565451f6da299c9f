"""The links to vendors, and the switches that stop everything."""

from dataclasses import dataclass
from urllib.parse import urlsplit

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse, QueryDict
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_POST, require_safe

from accounts.domain.accounts import person_actor
from accounts.middleware import asks_first, takes_secrets
from accounts.models import Account, User
from accounts.scopes import ROLE_RIGHTS, Right
from accounts.views.fresh import ask_again, fresh_sign_in_required, fresh_to_post, is_fresh
from accounts.views.requests import MemberRequest
from actions.connectors.issuers import GOOGLE, ISSUERS, Issuer
from actions.connectors.signing_in import WORD
from actions.domain.connections import check_connection, connect, list_connections, revoke_connection
from actions.domain.pausing import pause_account, pause_space
from actions.domain.signing_in import come_back, is_from, set_out
from actions.forms import TokenForm
from actions.models import Connection
from actions.views.journeys import ELSEWHERE, Awaited, await_return, take_up
from memoryhub.common.errors import Forbidden, HubError, InvalidRequest, ValidationFailed
from memoryhub.common.odd import visible
from memoryhub.common.tenancy import tenant
from memoryhub.web.forms import form_status, show_refusal
from spaces.domain.access import list_spaces
from spaces.views.requests import SpaceRequest, space_view

ANSWERS, LONGEST = ("state", "code", "error", "iss"), 4096


def the_list(account: str, **_kwargs: str) -> str:
    return reverse("connections", args=[account])


@dataclass(frozen=True)
class Vendor:
    """What a person has to know to connect one: what actions it is for, and what it must be allowed."""

    slug: str
    name: str
    does: str
    token: str
    needs: tuple[str, ...]

    @property
    def issuer(self) -> Issuer:
        return ISSUERS[self.slug]

    def lacks(self, connection: Connection) -> list[str]:
        """Of what was asked for when a person signed in, what they didn't allow."""
        asked = self.issuer.needs if connection.signed_in else ()
        return [short(scope) for scope in asked if scope not in connection.scopes]


def vendors() -> list[Vendor]:
    return [
        Vendor(
            "slack", "Slack", _("Sends messages to channels, and tells people what waits."),
            _("A bot token of an app in your workspace. It begins with xoxb-."), ISSUERS["slack"].needs,
        ),
        Vendor(
            "google", "Google", _("Replies to mail and makes calendar events."),
            _("An access token. Google ends such a token after an hour."),
            ("gmail.send", "gmail.metadata", "calendar.events"),
        ),
        Vendor(
            "github", "GitHub", _("Opens issues."),
            _("A fine-grained token for the repositories that it may open issues in."), ("issues: write",),
        ),
        Vendor(
            "notion", "Notion", _("Makes pages."),
            _("The secret of an integration that your pages are shared with."), ("read content", "insert content"),
        ),
    ]  # fmt: skip


def vendor_named(slug: str) -> Vendor:
    chosen = next((known for known in vendors() if known.slug == slug), None)
    if chosen is None:
        raise Http404
    return chosen


def short(scope: str) -> str:
    return scope.removeprefix(GOOGLE)


def row_of(vendor: Vendor, connection: Connection | None) -> dict[str, object]:
    scopes = [short(scope) for scope in connection.scopes] if connection else []
    return {
        "vendor": vendor,
        "connection": connection,
        "scopes": scopes,
        "lacks": vendor.lacks(connection) if connection else [],
    }


@require_safe
def connections(request: MemberRequest, account: str) -> HttpResponse:
    standing = {connection.vendor: connection for connection in list_connections(request.actor)}
    rights = ROLE_RIGHTS[request.actor.role]
    context = {
        "rows": [row_of(vendor, standing.get(vendor.slug)) for vendor in vendors()],
        "unknown_at": [vendor.name for vendor in vendors() if not vendor.issuer.is_configured],
        "may_manage": Right.MANAGE in rights,
        "may_stop": bool(rights & {Right.MANAGE, Right.DECIDE}),
        "team": Account.objects.get(id=request.actor.account_id),
        "spaces": list_spaces(request.actor),
    }
    return render(request, "connections/list.html", context)


@takes_secrets("token")
@asks_first
@never_cache
@fresh_sign_in_required
def new_connection(request: MemberRequest, account: str, vendor: str) -> HttpResponse:
    """To sign in at the vendor, or to paste a token: it is asked whose that is, before the account is opened."""
    chosen = vendor_named(vendor)
    form = TokenForm(request.POST or None)
    if form.is_valid():
        try:
            made = connect(request.actor, vendor, form.cleaned_data["token"])
        except HubError as error:
            show_refusal(form, error)
        else:
            tell_connected(request, chosen, made)
            return redirect("connections", account)
    with tenant(request.actor.account_id):
        context = {
            "form": form,
            "vendor": chosen,
            "way": way_to(request, account, chosen),
            "replaces": vendor in {standing.vendor for standing in list_connections(request.actor)},
        }
        return render(request, "connections/new.html", context, status=form_status(form))


def way_to(request: MemberRequest, account: str, vendor: Vendor) -> dict[str, object] | None:
    """Where to sign in, for who may connect, if this hub is known there."""
    if not vendor.issuer.is_configured or Right.MANAGE not in ROLE_RIGHTS[request.actor.role]:
        return None
    journey = set_out(vendor.slug)
    await_return(request, account, vendor.slug, journey)
    host = urlsplit(journey.url).netloc
    return {"url": journey.url, "host": host, "scopes": [short(scope) for scope in vendor.issuer.needs]}


def tell_connected(request: HttpRequest, vendor: Vendor, made: Connection) -> None:
    said = _("%(vendor)s is connected as %(name)s.") % {"vendor": vendor.name, "name": visible(made.name)}
    if lacks := vendor.lacks(made):
        lacking = _("But it was not allowed: %(scopes)s.") % {"scopes": ", ".join(lacks)}
        messages.warning(request, f"{said} {lacking}")
    else:
        messages.success(request, said)


@never_cache
@require_safe
def come_back_here(request: HttpRequest, vendor: str) -> HttpResponse:
    """Where a vendor sends a person back to. The account is the one that they set out from."""
    chosen, awaited = vendor_named(vendor), None
    try:
        answer = {name: one(request.GET, name) for name in ANSWERS}
        if not isinstance(request.user, User):
            raise Forbidden("You are not signed in to Memory Hub in this browser. Nothing was connected.")
        awaited = take_up(request, vendor, answer["state"])
        arrive(request, request.user, chosen, awaited, answer)
    except HubError as error:
        request.META["QUERY_STRING"] = ""  # forms of the page send its address back: without the code
        context = {"error": error, "vendor": chosen, "account": awaited.account if awaited else ""}
        return render(request, "connections/failed.html", context, status=error.status)
    return redirect("connections", awaited.account)


def arrive(
    request: HttpRequest, user: User, vendor: Vendor, awaited: Awaited, answer: dict[str, str]
) -> None:
    if not is_from(vendor.slug, answer["iss"]):
        raise InvalidRequest(ELSEWHERE)
    if answer["error"] == "access_denied":
        messages.info(request, _("You did not allow it. Nothing was connected."))
        return
    if answer["error"] or not answer["code"]:
        raise InvalidRequest(refusal(answer["error"]))
    actor = person_actor(user, awaited.account, address=request.META.get("REMOTE_ADDR", ""))
    tell_connected(request, vendor, come_back(actor, vendor.slug, answer["code"], awaited.verifier))


def one(sent: QueryDict, name: str) -> str:
    """A parameter that is there at most once, and no longer than any is."""
    values = sent.getlist(name)
    if len(values) > 1 or any(len(value) > LONGEST for value in values):
        raise InvalidRequest(f"{name}: must be there once, and have at most {LONGEST} characters.")
    return values[0] if values else ""


def refusal(error: str) -> str:
    word = error if WORD.fullmatch(error) else "no reason"
    return f"The vendor did not let you through ({word}). Nothing was connected: begin again."


@asks_first
@require_POST
def check(request: MemberRequest, account: str, connection: str) -> HttpResponse:
    checked = check_connection(request.actor, connection)
    if checked.trouble:
        messages.warning(request, _("It doesn’t work: %(why)s.") % {"why": checked.trouble})
    else:
        messages.success(request, _("It works."))
    return redirect("connections", account)


@asks_first
@require_POST
@fresh_to_post(the_list)
def revoke(request: MemberRequest, account: str, connection: str) -> HttpResponse:
    ended = revoke_connection(request.actor, connection)
    name = {"name": vendor_named(ended.connection.vendor).name}
    if ended.at_vendor:
        messages.success(request, _("%(name)s is disconnected, here and there.") % name)
    elif ended.at_vendor is None:
        messages.success(request, _("%(name)s is disconnected, and its token is gone.") % name)
    else:
        said = _("%(name)s is disconnected here, but did not say that it revoked the token: do that there.")
        messages.warning(request, said % name)
    return redirect("connections", account)


@require_POST
def stop_team(request: MemberRequest, account: str) -> HttpResponse:
    """Whoever may stop does so at once; what lets it go on asks who that is."""
    wanted = _paused(request)
    if not wanted and not is_fresh(request):
        return ask_again(request, the_list(account))
    paused = pause_account(request.actor, paused=wanted).actions_paused
    messages.success(
        request, _("Nothing is carried out now.") if paused else _("Actions are carried out again.")
    )
    return redirect("connections", account)


@space_view
@require_POST
def stop_space(request: SpaceRequest) -> HttpResponse:
    wanted = _paused(request)
    if not wanted and not is_fresh(request):
        return ask_again(request, the_list(request.account_slug))
    space = pause_space(request.actor, paused=wanted)
    said = (
        _("Nothing is carried out in %(name)s now.") if space.actions_paused else _("%(name)s goes on again.")
    )
    messages.success(request, said % {"name": visible(space.name)})
    return redirect("connections", request.account_slug)


def _paused(request: MemberRequest) -> bool:
    """Exactly one of the two: nothing goes on because a word was missing."""
    said = request.POST.get("paused", "")
    if said not in ("yes", "no"):
        raise ValidationFailed({"paused": ["Must be yes or no."]})
    return said == "yes"
