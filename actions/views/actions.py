"""One action: what would happen, and the decision. Deciding sends back the digest of what the page showed."""

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST, require_safe

from actions.domain.review import review_action
from actions.domain.transitions import approve_action, reject_action, transition_action
from actions.views.shown import Shown
from memoryhub.common.errors import Conflict, HubError
from spaces.views.requests import SpaceRequest, space_view


@space_view
@require_safe
def action(request: SpaceRequest, action: str) -> HttpResponse:
    return _page(request, action)


@space_view
@require_POST
def approve(request: SpaceRequest, action: str) -> HttpResponse:
    shown = request.POST.get("digest", "")
    try:
        approve_action(request.actor, action, digest=shown)
    except Conflict as conflict:
        return _page(request, action, refusal=conflict, was_shown=shown)
    except HubError as error:
        return _page(request, action, refusal=error)
    return _decided(request, action, _("Approved. Its agent can take it up now."))


@space_view
@require_POST
def reject(request: SpaceRequest, action: str) -> HttpResponse:
    try:
        reject_action(request.actor, action, reason=request.POST.get("reason", "").strip())
    except HubError as error:
        return _page(request, action, refusal=error)
    return _decided(request, action, _("Rejected. The agent sees your reason."))


@space_view
@require_POST
def end(request: SpaceRequest, action: str) -> HttpResponse:
    """Withdraws what is not carried out yet, or settles as failed what its agent never reported on."""
    start, to = request.POST.get("from", ""), request.POST.get("to", "")
    try:
        transition_action(request.actor, action, start, to, reason=request.POST.get("reason", "").strip())
    except HubError as error:
        return _page(request, action, refusal=error)
    return _decided(request, action, _("It is settled."))


def _decided(request: SpaceRequest, action: str, said: str) -> HttpResponse:
    if "HX-Request" not in request.headers:
        messages.success(request, said)
    return redirect("action", request.account_slug, request.space.slug, action)


def _page(
    request: SpaceRequest, action: str, *, refusal: HubError | None = None, was_shown: str = ""
) -> HttpResponse:
    """The page as things are now. After a refusal it says why, and shows anew what there is to decide on."""
    shown = Shown(request.actor, review_action(request.actor, action), was_shown=was_shown)
    context = {
        "shown": shown,
        "refusal": refusal,
        "changed": bool(was_shown) and was_shown != shown.review.digest,
    }
    return render(request, "actions/action.html", context, status=refusal.status if refusal else 200)
