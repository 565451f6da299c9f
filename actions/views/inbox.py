from dataclasses import dataclass
from urllib.parse import urlencode

from django.http import HttpResponse, JsonResponse
from django.shortcuts import render
from django.utils.translation import gettext as _

from accounts.domain.accounts import mail_domains
from accounts.views.fresh import is_fresh, to_the_password
from actions.domain.inbox import COUNTED, TABS, count_inbox, inbox_choices, list_inbox
from actions.domain.review import review_action
from actions.domain.together import MOST, decide_together, list_chosen, list_together
from actions.models import Status
from actions.views.actions import is_risky
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


@dataclass(frozen=True)
class Offered:
    """One of those that are decided on together. `changed`: it is not what was ticked any more."""

    row: Shown
    ticked: bool
    changed: bool


@space_view
def together(request: SpaceRequest) -> HttpResponse:
    """Those that were ticked, or all that wait of one class, each whole; after deciding, what came of each."""
    picked, to = _picked(request), request.POST.get("to", "")
    context: dict[str, object] = {"to": to}
    status = 200
    try:
        if to == Status.APPROVED and not is_fresh(request) and _any_risky(request, picked):
            there = f"{request.path}?{urlencode([('chosen', ' '.join(pair)) for pair in picked])}"
            return to_the_password(request, there)
        if request.method == "POST":
            reason = request.POST.get("reason", "").strip()
            context["decided"] = decide_together(request.actor, picked, to, reason=reason)
        context["offered"] = _offered(request, [] if request.method == "POST" else picked)
    except HubError as error:
        context["refusal"], status = error, error.status
    context["class_name"] = _class_of(request, context.get("offered"))
    return render(request, "actions/together.html", context, status=status)


def _picked(request: SpaceRequest) -> list[tuple[str, str]]:
    """What was ticked: ids, each with the digest of what was shown of it."""
    sent = (request.POST if request.method == "POST" else request.GET).getlist("chosen")
    return [(id, digest) for id, _, digest in (one.partition(" ") for one in sent)]


def _any_risky(request: SpaceRequest, picked: list[tuple[str, str]]) -> bool:
    return any(is_risky(request, id) for id, _ in picked[:MOST])


def _offered(request: SpaceRequest, picked: list[tuple[str, str]]) -> list[Offered]:
    actor, shown = request.actor, dict(picked)
    class_name = request.GET.get("class", "")
    waiting = list_chosen(actor, list(shown)) if picked else []
    if not picked and class_name:
        waiting = list_together(actor, class_name)
    return [_offer(Shown(actor, review_action(actor, action.uid)), shown) for action in waiting]


def _offer(row: Shown, shown: dict[str, str]) -> Offered:
    changed = bool(shown.get(row.short_id)) and shown[row.short_id] != row.review.digest
    ticked = row.may_decide and not changed and (bool(shown) or not row.risks)
    return Offered(row, ticked, changed)


def _class_of(request: SpaceRequest, offered: object) -> str:
    first = next(iter(offered), None) if isinstance(offered, list) else None
    return first.row.class_name if first else request.GET.get("class", "")


@space_view
def pulse(request: SpaceRequest) -> HttpResponse:
    """What a page asks when it hears of a change, and every 15 seconds while it can't hear."""
    waiting = count_inbox(request.actor, ["needs_you"])["needs_you"]
    response = JsonResponse({"version": request.space.inbox_version, "waiting": waiting})
    response["Cache-Control"] = "no-store"
    return response
