"""What is held back from every path until a person has read it."""

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.http import require_POST

from accounts.domain.names import names_of
from memoryhub.common.errors import Conflict
from memoryhub.common.ids import typed_id
from spaces.domain.memories import hold_memory, list_held, release_memory
from spaces.views.requests import SpaceRequest, space_view

WHY = {
    "instructions": gettext_lazy("speaks to agents"),
    "invisible": gettext_lazy("has characters that can't be seen"),
    "encoded": gettext_lazy("has something encoded in it"),
    "tools": gettext_lazy("calls tools"),
    "secrets": gettext_lazy("held a secret"),
    "by hand": gettext_lazy("held by hand"),
}


@space_view
def held(request: SpaceRequest) -> HttpResponse:
    page = list_held(request.actor, cursor=request.GET.get("page"))
    names = names_of(request.actor.account_id, (memory.written_by for memory in page.items))
    rows = [
        {
            "id": typed_id("mem", memory.id),
            "memory": memory,
            "writer": names[memory.written_by],
            "why": [WHY.get(reason, reason) for reason in memory.held_for],
        }
        for memory in page.items
    ]
    return render(request, "memories/held.html", {"rows": rows, "next_token": page.next_token})


@space_view
@require_POST
def release(request: SpaceRequest, memory: str) -> HttpResponse:
    try:
        released = release_memory(request.actor, memory)
    except Conflict as conflict:
        messages.error(request, conflict.message)
        return _to_list(request)
    messages.success(request, _("Released: agents find it from now on."))
    return redirect("memory", request.account_slug, request.space.slug, typed_id("mem", released.id))


@space_view
@require_POST
def hold(request: SpaceRequest, memory: str) -> HttpResponse:
    hold_memory(request.actor, memory)
    messages.success(request, _("Held back: nothing finds it until it is released."))
    return _to_list(request)


def _to_list(request: SpaceRequest) -> HttpResponse:
    return redirect("memories-held", request.account_slug, request.space.slug)
