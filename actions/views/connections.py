"""The links to vendors, and the switches that stop everything."""

from dataclasses import dataclass

from django.contrib import messages
from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_POST, require_safe

from accounts.middleware import asks_first, takes_secrets
from accounts.models import Account
from accounts.scopes import ROLE_RIGHTS, Right
from accounts.views.fresh import fresh_sign_in_required
from accounts.views.requests import MemberRequest
from actions.domain.connections import check_connection, connect, list_connections, revoke_connection
from actions.domain.pausing import pause_account, pause_space
from actions.forms import TokenForm
from actions.models import Connection
from memoryhub.common.errors import HubError, ValidationFailed
from memoryhub.common.odd import visible
from memoryhub.common.tenancy import tenant
from memoryhub.web.forms import form_status, show_refusal
from spaces.domain.access import list_spaces
from spaces.views.requests import SpaceRequest, space_view


@dataclass(frozen=True)
class Vendor:
    """What a person has to know to connect one: what actions it is for, and what its token must be allowed."""

    slug: str
    name: str
    does: str
    token: str
    needs: tuple[str, ...]


def vendors() -> list[Vendor]:
    return [
        Vendor(
            "slack", "Slack", _("Sends messages to channels."),
            _("A bot token of an app in your workspace. It begins with xoxb-."),
            ("chat:write", "channels:read", "channels:history", "groups:read", "groups:history"),
        ),
        Vendor(
            "google", "Google", _("Replies to mail and makes calendar events."),
            _("An access token. Google ends such a token after an hour."),
            ("gmail.send", "gmail.readonly", "calendar.events"),
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


@require_safe
def connections(request: MemberRequest, account: str) -> HttpResponse:
    standing = {connection.vendor: connection for connection in list_connections(request.actor)}
    rights = ROLE_RIGHTS[request.actor.role]
    context = {
        "rows": [{"vendor": vendor, "connection": standing.get(vendor.slug)} for vendor in vendors()],
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
    """The vendor is asked whose token it is, before the account is opened."""
    chosen = next((known for known in vendors() if known.slug == vendor), None)
    if chosen is None:
        raise Http404
    form = TokenForm(request.POST or None)
    if form.is_valid():
        try:
            made = connect(request.actor, vendor, form.cleaned_data["token"])
        except HubError as error:
            show_refusal(form, error)
        else:
            said = _("%(vendor)s is connected as %(name)s.")
            messages.success(request, said % {"vendor": chosen.name, "name": visible(made.name)})
            return redirect("connections", account)
    with tenant(request.actor.account_id):
        context = {"form": form, "vendor": chosen}
        return render(request, "connections/new.html", context, status=form_status(form))


@asks_first
@require_POST
def check(request: MemberRequest, account: str, connection: str) -> HttpResponse:
    checked = check_connection(request.actor, connection)
    if checked.trouble:
        messages.warning(request, _("It doesn’t work: %(why)s.") % {"why": checked.trouble})
    else:
        messages.success(request, _("It works."))
    return redirect("connections", account)


@require_POST
def revoke(request: MemberRequest, account: str, connection: str) -> HttpResponse:
    ended = revoke_connection(request.actor, connection)
    messages.success(request, _("%(name)s is disconnected, and its token is gone.") % {"name": _name(ended)})
    return redirect("connections", account)


@require_POST
def stop_team(request: MemberRequest, account: str) -> HttpResponse:
    paused = pause_account(request.actor, paused=_paused(request)).actions_paused
    messages.success(
        request, _("Nothing is carried out now.") if paused else _("Actions are carried out again.")
    )
    return redirect("connections", account)


@space_view
@require_POST
def stop_space(request: SpaceRequest) -> HttpResponse:
    space = pause_space(request.actor, paused=_paused(request))
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


def _name(connection: Connection) -> str:
    return next(vendor.name for vendor in vendors() if vendor.slug == connection.vendor)
