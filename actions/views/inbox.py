from dataclasses import dataclass
from urllib.parse import urlencode

from django.http import HttpResponse, JsonResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _

from accounts.domain.accounts import mail_domains
from accounts.views.fresh import is_fresh
from actions.domain.inbox import COUNTED, TABS, count_inbox, inbox_choices, list_inbox
from actions.domain.review import review_action
from actions.domain.together import decide_together, list_together
from actions.views.shown import Row, Shown
from memoryhub.common.errors import HubError
from spaces.views.requests import SpaceRequest, space_view


@dataclass(frozen=True)
class Tab:
    slug: str
    label: str
    count: int
    current: bool


@dataclass(frozen=True)
class Filters:
    class_name: str
    proposer: str

    @property
    def any(self) -> bool:
        return bool(self.class_name or self.proposer)


@space_view
def inbox(request: SpaceRequest) -> HttpResponse:
    tabs = _tabs(request, request.GET.get("tab", "needs_you"))
    tab = next((tab for tab in tabs if tab.current), tabs[0])
    filters = Filters(request.GET.get("class", ""), request.GET.get("agent", ""))
    page = list_inbox(
        request.actor,
        tab.slug,
        class_name=filters.class_name,
        proposer=filters.proposer,
        token=request.GET.get("page"),
    )
    domains = mail_domains(request.actor.account_id)
    context = {
        "tabs": tabs,
        "tab": tab,
        "filters": filters,
        "choices": inbox_choices(request.actor, tab.slug),
        "rows": [Row(action, domains) for action in page.items],
        "next_token": page.next_token,
        "shown": _opened(request),
    }
    return render(request, "actions/inbox.html", context)


def _tabs(request: SpaceRequest, current: str) -> list[Tab]:
    counts = count_inbox(request.actor, COUNTED)
    request.waiting = counts["needs_you"]
    labels = {
        "needs_you": _("Needs you"), "waiting": _("Waiting"), "snoozed": _("Snoozed"), "approved": _("Approved"),
        "done": _("Done"), "failed": _("Failed"),
    }  # fmt: skip
    return [Tab(slug, labels[slug], counts.get(slug, 0), slug == current) for slug in TABS]


def _opened(request: SpaceRequest) -> Shown | None:
    """The action beside the list, where the address names one."""
    if not (id := request.GET.get("open")):
        return None
    try:
        return Shown(request.actor, review_action(request.actor, id))
    except HubError:
        return None


@space_view
def together(request: SpaceRequest) -> HttpResponse:
    """All that wait of one class, each whole, to be decided on at once; after that what came of each."""
    class_name = request.GET.get("class", "")
    context: dict[str, object] = {"class_name": class_name}
    status = 200
    if request.method == "POST":
        chosen = [
            (id, digest) for id, _, digest in (c.partition(" ") for c in request.POST.getlist("chosen"))
        ]
        if request.POST.get("to") == "approved" and not is_fresh(request):
            return redirect(
                f"{reverse('account_reauthenticate')}?{urlencode({'next': request.get_full_path()})}"
            )
        try:
            reason = request.POST.get("reason", "").strip()
            context["decided"] = decide_together(
                request.actor, chosen, request.POST.get("to", ""), reason=reason
            )
        except HubError as error:
            context["refusal"], status = error, error.status
    waiting = list_together(request.actor, class_name)
    context["rows"] = [Shown(request.actor, review_action(request.actor, action.uid)) for action in waiting]
    return render(request, "actions/together.html", context, status=status)


@space_view
def pulse(request: SpaceRequest) -> HttpResponse:
    """What a page asks when it hears of a change, and every 15 seconds while it can't hear."""
    waiting = count_inbox(request.actor, ["needs_you"])["needs_you"]
    response = JsonResponse({"version": request.space.inbox_version, "waiting": waiting})
    response["Cache-Control"] = "no-store"
    return response
