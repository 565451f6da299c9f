"""What was captured and waits for a person; and whether anything is captured here at all."""

from dataclasses import dataclass

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext
from django.views.decorators.http import require_POST

from accounts.domain.names import names_of
from accounts.scopes import ROLE_RIGHTS, Right
from memoryhub.common.errors import HubError
from memoryhub.common.ids import typed_id
from spaces.domain.access import role_in
from spaces.domain.capture import drop_captures, keep_capture, list_captures
from spaces.domain.spaces import Settings, update_space
from spaces.models import Capture
from spaces.views.requests import SpaceRequest, space_view

MODES = {
    "off": (gettext_lazy("Off"), gettext_lazy("Nothing that is said in passing is looked at.")),
    "review": (gettext_lazy("Review"), gettext_lazy("What passes the rules waits here for a person.")),
    "on": (
        gettext_lazy("On"),
        gettext_lazy("What passes the rules is remembered at once, and trusted least."),
    ),
}


@dataclass(frozen=True)
class Waiting:
    id: str
    capture: Capture
    writer: str


@space_view
def captures(request: SpaceRequest) -> HttpResponse:
    page = list_captures(request.actor, cursor=request.GET.get("page"))
    names = names_of(request.actor.account_id, (row.written_by for row in page.items))
    context = {
        "waiting": [
            Waiting(typed_id("cap", row.id), row, row.agent or names[row.written_by]) for row in page.items
        ],
        "next_token": page.next_token,
        "modes": [(mode, name, about) for mode, (name, about) in MODES.items()],
        "mode": request.space.capture_mode,
        "mode_name": MODES[request.space.capture_mode][0],
        "may_manage": Right.MANAGE in ROLE_RIGHTS[role_in(request.actor, request.space)],
    }
    return render(request, "capture/captures.html", context)


@space_view
@require_POST
def mode(request: SpaceRequest) -> HttpResponse:
    update_space(request.actor, Settings(capture_mode=request.POST.get("mode", "")))
    messages.success(request, _("Saved."))
    return redirect("capture", request.account_slug, request.space.slug)


@space_view
@require_POST
def keep(request: SpaceRequest, capture: str) -> HttpResponse:
    try:
        keep_capture(request.actor, capture, text=request.POST.get("text", ""))
    except HubError as error:
        if error.status in (403, 404):
            raise
        messages.error(request, error.message)
    else:
        messages.success(request, _("Remembered, as reviewed by you."))
    return redirect("capture", request.account_slug, request.space.slug)


@space_view
@require_POST
def drop(request: SpaceRequest) -> HttpResponse:
    count = drop_captures(request.actor, request.POST.getlist("ids"))
    said = ngettext("%(n)s dropped, for good.", "%(n)s dropped, for good.", count)
    messages.success(request, said % {"n": count})
    return redirect("capture", request.account_slug, request.space.slug)
