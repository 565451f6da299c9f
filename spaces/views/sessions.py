from dataclasses import dataclass

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST

from accounts.domain.names import names_of
from memoryhub.common.ids import typed_id
from spaces.domain.search.facets import Choice
from spaces.domain.summaries import delete_summary, space_summaries, speakers
from spaces.models import Memory, Summary
from spaces.views.requests import SpaceRequest, space_view


@dataclass(frozen=True)
class Recorded:
    id: str
    memory: Memory


@dataclass(frozen=True)
class Session:
    """A summary with what it recorded. `writer` is the agent as it names itself, or else its credential."""

    id: str
    summary: Summary
    writer: str
    recorded: list[Recorded]


@space_view
def sessions(request: SpaceRequest) -> HttpResponse:
    asked = {name: request.GET.get(name, "") for name in ("summary", "agent", "session")}
    page = space_summaries(
        request.actor,
        id=asked["summary"],
        agent=asked["agent"],
        session=asked["session"],
        token=request.GET.get("page"),
    )
    names = names_of(request.actor.account_id, (summary.written_by for summary in page.items))
    context = {
        "sessions": [_shown(summary, names[summary.written_by]) for summary in page.items],
        "next_token": page.next_token,
        "agents": [Choice(name, count) for name, count in speakers(request.actor)],
        "chosen": {name: value for name, value in asked.items() if value},
    }
    return render(request, "sessions/sessions.html", context)


@space_view
@require_POST
def delete(request: SpaceRequest, summary: str) -> HttpResponse:
    delete_summary(request.actor, summary)
    messages.success(request, _("The summary is deleted. The memories that it recorded stay."))
    return redirect("sessions", request.account_slug, request.space.slug)


def _shown(summary: Summary, credential: str) -> Session:
    recorded = [Recorded(typed_id("mem", item.memory_id), item.memory) for item in summary.items.all()]
    return Session(typed_id("sum", summary.id), summary, summary.agent or credential, recorded)
