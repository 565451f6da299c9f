"""One action: what would happen, and the decision. Deciding sends back the digest of what the page showed."""

from collections.abc import Sequence
from datetime import timedelta

from django.conf import settings
from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.http import require_POST, require_safe

from accounts.views.fresh import is_fresh, to_the_password
from actions.domain.editing import edit_action
from actions.domain.review import review_action
from actions.domain.settling import look_again, settle_action
from actions.domain.snoozing import snooze_action
from actions.domain.transitions import approve_action, reject_action, transition_action
from actions.forms import PayloadForm
from actions.models import Status
from actions.views.shown import Shown
from memoryhub.common.errors import Conflict, HubError, ValidationFailed
from memoryhub.web.forms import form_status, show_refusal
from spaces.views.requests import SpaceRequest, space_view

SNOOZES = ("1", "4", "24")


@space_view
@require_safe
def action(request: SpaceRequest, action: str) -> HttpResponse:
    return _page(request, action)


@space_view
@require_POST
def approve(request: SpaceRequest, action: str) -> HttpResponse:
    shown = request.POST.get("digest", "")
    if is_risky(request, action) and not is_fresh(request):
        return _who_are_you(request, action)
    try:
        approved = approve_action(request.actor, action, digest=shown)
    except Conflict as conflict:
        return _page(request, action, refusal=conflict, was_shown=shown)
    except HubError as error:
        return _page(request, action, refusal=error)
    if approved.status == Status.PENDING:
        return _decided(request, action, _("You agree. More people have to agree before it is approved."))
    if approved.executor == "worker":
        said = ngettext(
            "Approved. It is sent in %(n)s second.", "Approved. It is sent in %(n)s seconds.", seconds()
        )
        return _decided(request, action, said % {"n": seconds()})
    return _decided(request, action, _("Approved. Its agent can take it up now."))


def is_risky(request: SpaceRequest, action: str) -> bool:
    """Whether it is this person's to decide, and of high risk."""
    shown = Shown(request.actor, review_action(request.actor, action))
    return shown.may_decide and bool(shown.risks)


def _who_are_you(request: SpaceRequest, action: str) -> HttpResponse:
    """To the password and back to the action, to read it and approve it then."""
    return to_the_password(
        request, reverse("action", args=[request.account_slug, request.space.slug, action])
    )


def seconds() -> int:
    return int(settings.UNDO_SECONDS)


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


@space_view
def edit(request: SpaceRequest, action: str) -> HttpResponse:
    """A form with the payload; what is saved is a new revision, to be read and decided on."""
    shown = Shown(request.actor, review_action(request.actor, action))
    initial = {"payload": shown.editable, "digest": shown.review.digest}
    form = PayloadForm(request.POST or None, initial=initial)
    if form.is_valid():
        try:
            edit_action(request.actor, action, **form.cleaned_data)
        except HubError as error:
            show_refusal(form, error)
        else:
            messages.success(request, _("Changed. Read it as it is now, then decide."))
            return redirect("action", request.account_slug, request.space.slug, action)
    return render(request, "actions/edit.html", {"form": form, "shown": shown}, status=form_status(form))


@space_view
@require_POST
def snooze(request: SpaceRequest, action: str) -> HttpResponse:
    """For so many hours; without any it is shown again."""
    try:
        hours = _said(request, "hours", ("", *SNOOZES))
        until = timezone.now() + timedelta(hours=int(hours)) if hours else None
        snooze_action(request.actor, action, until=until)
    except HubError as error:
        return _page(request, action, refusal=error)
    return _decided(request, action, _("Put off.") if until else _("It is back in the inbox."))


@space_view
@require_POST
def settle(request: SpaceRequest, action: str) -> HttpResponse:
    """What became of an action that nobody knows: a person says, or has the worker look once more."""
    try:
        said = _said(request, "happened", ("yes", "no", "look"))
        if said == "look":
            look_again(request.actor, action)
            return _decided(request, action, _("It is being looked for again."))
        settle_action(
            request.actor, action, happened=said == "yes", reason=request.POST.get("reason", "").strip()
        )
    except HubError as error:
        return _page(request, action, refusal=error)
    return _decided(request, action, _("It is settled."))


def _said(request: SpaceRequest, name: str, known: Sequence[str]) -> str:
    said = request.POST.get(name, "")
    if said not in known:
        raise ValidationFailed({name: [f"Must be one of {', '.join(filter(None, known))}."]})
    return said


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
