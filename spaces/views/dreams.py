from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.http import require_POST

from accounts.domain.names import names_of
from accounts.scopes import ROLE_RIGHTS, Right
from memoryhub.common.errors import Forbidden, HubError, NotFound, ValidationFailed
from memoryhub.common.ids import typed_id
from memoryhub.web.forms import form_status, show_refusal
from spaces.domain.access import role_in
from spaces.domain.dreams.due import dream_state
from spaces.domain.dreams.runs import access_run, list_runs
from spaces.domain.dreams.settling import decide
from spaces.domain.dreams.showing import ShownChange, shown_changes
from spaces.domain.dreams.starting import start_dream
from spaces.domain.dreams.undoing import Undone, built_on, undo
from spaces.domain.spaces import Settings, update_space
from spaces.forms import DreamForm
from spaces.models import DreamRun
from spaces.views.requests import SpaceRequest, space_view

STATUSES: dict[str, tuple[str, str | Promise]] = {
    "queued": ("info", gettext_lazy("about to begin")),
    "awaiting_result": ("info", gettext_lazy("an agent thinks")),
    "thinking": ("info", gettext_lazy("the model thinks")),
    "validating": ("info", gettext_lazy("is checked")),
    "review": ("warn", gettext_lazy("waits for you")),
    "applied": ("ok", gettext_lazy("applied")),
    "no_changes": ("", gettext_lazy("nothing to change")),
    "rejected": ("", gettext_lazy("rejected")),
    "failed": ("bad", gettext_lazy("failed")),
    "expired": ("", gettext_lazy("not answered")),
    "undone": ("", gettext_lazy("undone")),
}
KINDS = {
    "dream": gettext_lazy("Dream"),
    "clusters": gettext_lazy("Near-identical memories"),
    "reflection": gettext_lazy("Look back at the week"),
}
OPS = {
    "merge": gettext_lazy("Merge"),
    "update": gettext_lazy("Reword"),
    "retier": gettext_lazy("Move to another tier"),
    "expire": gettext_lazy("Let expire"),
    "drop": gettext_lazy("Drop"),
    "add": gettext_lazy("Add"),
}
GROUPS = (
    ("proposed", gettext_lazy("Waiting for you")),
    ("applied", gettext_lazy("Applied")),
    ("undone", gettext_lazy("Undone")),
    ("declined", gettext_lazy("Declined")),
    ("skipped", gettext_lazy("Skipped by the rules")),
)


@dataclass(frozen=True)
class ShownRun:
    run: DreamRun
    applied: int = 0
    waiting: int = 0

    @property
    def id(self) -> str:
        return typed_id("run", self.run.id)

    @property
    def status(self) -> str:
        return self.run.status_at(timezone.now())

    @property
    def tone(self) -> str:
        return STATUSES[self.status][0]

    @property
    def label(self) -> str | Promise:
        return STATUSES[self.status][1]

    @property
    def title(self) -> str | Promise:
        return KINDS[self.run.kind]

    @property
    def undoable(self) -> bool:
        return bool(self.run.status == "applied" and self.run.undo_until and self.left > timedelta(0))

    @property
    def left(self) -> timedelta:
        assert self.run.undo_until is not None
        return self.run.undo_until - timezone.now()


@dataclass(frozen=True)
class Group:
    state: str
    title: str | Promise
    changes: Sequence[tuple[str | Promise, ShownChange]]


@space_view
def dreams(request: SpaceRequest) -> HttpResponse:
    """The runs of the space; posting changes when and how it dreams."""
    form = DreamForm(request.POST or None, initial=_settings(request))
    if request.method == "POST" and form.is_valid() and _saved(request, form):
        messages.success(request, _("Saved."))
        return redirect("dreams", request.account_slug, request.space.slug)
    page = list_runs(request.actor, cursor=request.GET.get("page"))
    rights = ROLE_RIGHTS[role_in(request.actor, request.space)]
    context = {
        "form": form,
        "runs": [_row(run) for run in page.items],
        "next_token": page.next_token,
        "state": dream_state(request.space),
        "now": timezone.now(),
        "version": sum(run.version for run in page.items),
        "manages": Right.MANAGE in rights,
        "writes": Right.WRITE in rights,
    }
    return render(request, "dreams/dreams.html", context, status=form_status(form))


@space_view
def dream(request: SpaceRequest, run: str) -> HttpResponse:
    found = _run(request, run)
    return _show(request, found, preview=_preview(request, found) if "undo" in request.GET else None)


@space_view
@require_POST
def start(request: SpaceRequest) -> HttpResponse:
    """A dream now; or back to the one that is open."""
    try:
        run = start_dream(request.actor)
    except ValidationFailed as refusal:
        messages.error(request, " ".join(said for each in refusal.fields.values() for said in each))
        run = None
    else:
        if run is None:
            messages.success(
                request, _("Near-identical memories are being looked for. What is found, waits here.")
            )
    place = (request.account_slug, request.space.slug)
    return redirect("dream", *place, typed_id("run", run.id)) if run else redirect("dreams", *place)


@space_view
@require_POST
def review(request: SpaceRequest, run: str) -> HttpResponse:
    """What is ticked is accepted; all the rest is declined."""
    found = _run(request, run)
    ticked = [int(n) for n in request.POST.getlist("accept") if n.isdigit() and len(n) < 5]
    accepted = ticked if "decline" not in request.POST else []
    return _told(request, found, lambda: decide(request.actor, found.id, accepted), _("Decided."))


@space_view
@require_POST
def undo_run(request: SpaceRequest, run: str) -> HttpResponse:
    found = _run(request, run)
    force = request.POST.get("force") == "on"
    return _told(request, found, lambda: undo(request.actor, found.id, force=force), _("Undone."))


def _told(request: SpaceRequest, run: DreamRun, act: Any, done: str) -> HttpResponse:
    try:
        act()
    except (Forbidden, NotFound):
        raise
    except HubError as error:
        messages.error(request, error.message)
    else:
        messages.success(request, done)
    return redirect("dream", request.account_slug, request.space.slug, typed_id("run", run.id))


def _run(request: SpaceRequest, run: str) -> DreamRun:
    found = access_run(request.actor, run)
    if found.space_id != request.space.id:
        raise NotFound("run")
    return found


def _settings(request: SpaceRequest) -> dict[str, Any]:
    space = request.space
    return {"mode": space.dream_mode, "review": space.dream_review, "hours": space.dream_hours}


def _saved(request: SpaceRequest, form: DreamForm) -> bool:
    data = form.cleaned_data
    settings = Settings(dream_mode=data["mode"], dream_review=data["review"], dream_hours=data["hours"])
    try:
        update_space(request.actor, settings, space=request.space.id)
    except HubError as error:
        show_refusal(form, error, dream_interval_hours="hours", dream_mode="mode")
        return False
    return True


def _row(run: DreamRun) -> ShownRun:
    states = list(run.changes.values_list("state", flat=True))
    return ShownRun(
        run, applied=states.count("applied") + states.count("undone"), waiting=states.count("proposed")
    )


def _preview(request: SpaceRequest, run: DreamRun) -> Undone | None:
    """What an undo would do by now. Whoever may not undo sees none."""
    try:
        return undo(request.actor, run.id, dry_run=True)
    except HubError as error:
        messages.error(request, error.message)
        return None


def _show(request: SpaceRequest, run: DreamRun, *, preview: Undone | None) -> HttpResponse:
    changes = shown_changes(run)
    context = {
        "run": ShownRun(run),
        "groups": [group for group in _groups(changes) if group.changes],
        "preview": preview,
        "people": _people(run),
        "first_undo": [typed_id("run", later.id) for later in built_on(run)]
        if run.status == "applied"
        else [],
    }
    return render(request, "dreams/dream.html", context)


def _people(run: DreamRun) -> list[tuple[str, str]]:
    told = [
        (_("Started by"), run.started_by),
        (_("Answered by"), run.submitted_by),
        (_("Decided by"), run.decided_by),
        (_("Undone by"), run.undone_by),
    ]
    names = names_of(run.account_id, [key for _label, key in told if key])
    return [(label, names[key]) for label, key in told if key]


def _groups(changes: Sequence[ShownChange]) -> list[Group]:
    return [
        Group(state, title, [(OPS[one.change.op], one) for one in changes if one.change.state == state])
        for state, title in GROUPS
    ]
