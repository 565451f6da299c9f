from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST

from accounts.domain.names import names_of
from memoryhub.common.errors import Conflict, HubError, NotFound
from memoryhub.common.ids import typed_id
from memoryhub.web.forms import form_status, show_refusal
from spaces.domain.plans import (
    Changes,
    Wanted,
    access_plan,
    access_version,
    create_plan,
    delete_plan,
    list_plan_versions,
    list_plans,
    restore_plan,
    state,
    update_plan,
)  # fmt: skip
from spaces.forms import PlanForm
from spaces.models import Plan, PlanVersion
from spaces.models.plans import PLAN_STATUSES
from spaces.views.conflicts import conflict_of
from spaces.views.requests import SpaceRequest, space_view

SHOWN = 50
IN_RAIL = 100


@dataclass(frozen=True)
class Row:
    plan: Plan
    id: str
    writer: str


@dataclass(frozen=True)
class InRail:
    number: int
    by: str
    at: datetime
    changed: Sequence[str]


@dataclass(frozen=True)
class Compared:
    """Two versions as one text each, for comparing; the older one first."""

    old: int
    new: int
    before: str
    after: str


@space_view
def plans(request: SpaceRequest) -> HttpResponse:
    status, tag = request.GET.get("status", ""), request.GET.get("tag", "")
    wanted = Wanted(status=status if status in PLAN_STATUSES else "", tag=tag)
    page = list_plans(request.actor, wanted, limit=SHOWN, cursor=request.GET.get("page"))
    names = names_of(request.actor.account_id, (plan.written_by for plan in page.items))
    context = {
        "rows": [Row(plan, typed_id("pln", plan.id), names[plan.written_by]) for plan in page.items],
        "next_token": page.next_token,
        "status": wanted.status,
        "statuses": PLAN_STATUSES,
        "tag": tag,
    }
    return render(request, "plans/plans.html", context)


@space_view
def new(request: SpaceRequest) -> HttpResponse:
    form = PlanForm(request.POST or None)
    if form.is_valid():
        data = form.cleaned_data
        try:
            plan = create_plan(request.actor, data["title"], data["content"], _changes(data))
        except HubError as error:
            show_refusal(form, error)
        else:
            messages.success(request, _("Saved."))
            return _to(request, plan)
    return render(request, "plans/new.html", {"form": form}, status=form_status(form))


@space_view
def plan(request: SpaceRequest, plan: str) -> HttpResponse:
    """The document; posting changes it if it is still at the version that was open."""
    stored = _in_space(request, plan)
    if request.method != "POST":
        return _show(request, stored, PlanForm(initial={**state(stored), "version": stored.version}))
    form = PlanForm(request.POST)
    if not form.is_valid():
        return _show(request, stored, form, status=422)
    return _change(request, stored, form)


def _change(request: SpaceRequest, stored: Plan, form: PlanForm) -> HttpResponse:
    version = form.cleaned_data["version"]
    try:
        update_plan(request.actor, stored.id, _changes(form.cleaned_data), expected_version=version)
    except Conflict:
        yours, theirs = text_of(form.cleaned_data), text_of(state(stored))
        conflict = conflict_of(form, yours=yours, theirs=theirs, version=stored.version)
        return _show(request, stored, form, conflict=conflict, status=409)
    except HubError as error:
        show_refusal(form, error)
        return _show(request, stored, form, status=error.status)
    messages.success(request, _("Saved."))
    return _to(request, stored)


@space_view
@require_POST
def restore(request: SpaceRequest, plan: str) -> HttpResponse:
    stored = _in_space(request, plan)
    number, seen = _number(request.POST.get("number")), _number(request.POST.get("version"))
    try:
        restore_plan(request.actor, stored.id, number, expected_version=seen)
    except Conflict:
        messages.error(request, _("Someone saved a newer version meanwhile. Look at it first."))
    else:
        messages.success(request, _("Restored, as a new version."))
    return _to(request, stored)


@space_view
@require_POST
def delete(request: SpaceRequest, plan: str) -> HttpResponse:
    delete_plan(request.actor, _in_space(request, plan).id)
    messages.success(request, _("The plan is deleted, with all its versions."))
    return redirect("plans", request.account_slug, request.space.slug)


def text_of(told: dict[str, Any]) -> str:
    """A plan as one text, for comparing."""
    facts = " · ".join([told["type"], told["status"], *(f"#{tag}" for tag in told["tags"])])
    return f"{told['title']}\n{facts}\n\n{told['content']}"


def _in_space(request: SpaceRequest, id: str) -> Plan:
    plan = access_plan(request.actor, id)
    if plan.space_id != request.space.id:
        raise NotFound("plan")
    return plan


def _changes(data: dict[str, Any]) -> Changes:
    return Changes(**{name: data[name] for name in ("title", "content", "tags", "type", "status")})


def _show(
    request: SpaceRequest, stored: Plan, form: PlanForm, status: int = 200, **more: Any
) -> HttpResponse:
    versions = list_plan_versions(request.actor, stored.id, limit=IN_RAIL, cursor=request.GET.get("page"))
    names = names_of(stored.account_id, (version.written_by for version in versions.items))
    chosen = _number(request.GET.get("version")) if request.GET.get("version") else stored.version
    context = {
        "plan": stored,
        "id": typed_id("pln", stored.id),
        "form": form,
        "shown": access_version(request.actor, stored.id, chosen),
        "compared": _compared(request, stored),
        "rail": [InRail(v.version, names[v.written_by], v.written_at, v.changed) for v in versions.items],
        "next_token": versions.next_token,
        **more,
    }
    return render(request, "plans/plan.html", context, status=status)


def _compared(request: SpaceRequest, stored: Plan) -> Compared | None:
    """The two that the address asks for, in whichever order it names them."""
    asked = [request.GET.get(name, "") for name in ("from", "to")]
    if not all(asked):
        return None
    old, new = sorted(_number(number) for number in asked)
    before, after = (_version(request, stored, number) for number in (old, new))
    return Compared(old, new, text_of(before.data), text_of(after.data))


def _version(request: SpaceRequest, stored: Plan, number: int) -> PlanVersion:
    return access_version(request.actor, stored.id, number)


def _number(text: str | None) -> int:
    if not text or not text.isascii() or not text.isdecimal() or len(text) > 9:
        raise NotFound("plan")
    return int(text)


def _to(request: SpaceRequest, plan: Plan) -> HttpResponse:
    return redirect("plan", request.account_slug, request.space.slug, typed_id("pln", plan.id))
