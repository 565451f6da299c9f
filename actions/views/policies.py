"""The rules of a space: what is denied, what asks people, and what is approved by itself."""

from dataclasses import dataclass

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST, require_safe

from accounts.scopes import Right
from accounts.views.fresh import fresh_sign_in_required, fresh_to_post
from actions.domain.actions import access_action
from actions.domain.policies.conditions import BY_CLASS
from actions.domain.policies.rules import (
    Draft,
    access_policy,
    backtest,
    change_policy,
    create_policy,
    end_policy,
    history_of,
    list_policies,
    pinned_draft,
)
from actions.forms import MORE_ROWS, ConditionRow, PolicyForm, rows_of, sent_rows
from actions.models import Policy
from memoryhub.common.errors import HubError
from memoryhub.common.odd import visible
from memoryhub.common.secrets.policy import check_always
from memoryhub.web.forms import form_status
from spaces.views.requests import SpaceRequest, space_view

DIGITS = 10


def the_list(account: str, space: str, **_kwargs: str) -> str:
    return reverse("policies", args=[account, space])


@dataclass(frozen=True)
class Line:
    """A rule of the list, its conditions in words."""

    rule: Policy
    conditions: list[ConditionRow]


@space_view
@require_safe
def policies(request: SpaceRequest) -> HttpResponse:
    lines = [Line(rule, rows_of(rule.conditions)) for rule in list_policies(request.actor)]
    context = {"lines": lines, "may_rule": request.actor.has(Right.MANAGE)}
    return render(request, "policies/list.html", context)


@space_view
@fresh_sign_in_required
def new_policy(request: SpaceRequest) -> HttpResponse:
    """With `like`, every field is pinned to what that action is. A rule is first tried on the last 30 days."""
    like = request.GET.get("like", "")
    return _form(request, pinned_draft(access_action(request.actor, like)) if like else None)


@space_view
@fresh_sign_in_required
def policy(request: SpaceRequest, policy: str) -> HttpResponse:
    rule = access_policy(request.actor, policy)
    return _form(request, rule, policy)


@fresh_to_post(the_list)
@space_view
@require_POST
def end(request: SpaceRequest, policy: str) -> HttpResponse:
    end_policy(request.actor, policy)
    messages.success(request, _("The rule has ended. What it had approved is not carried out any more."))
    return redirect("policies", request.account_slug, request.space.slug)


def _form(request: SpaceRequest, start: Draft | Policy | None, id: str = "") -> HttpResponse:
    initial = {name: getattr(start, name) for name in PolicyForm.base_fields} if start else {}
    rows = sent_rows(request.POST) if request.POST else rows_of((start and start.conditions) or {})
    tried, step = None, request.POST.get("step")
    if step == "more":
        form = PolicyForm(None, initial=request.POST.dict(), rows=rows, empty=MORE_ROWS)
    else:
        form = PolicyForm(request.POST or None, initial=initial, rows=rows)
    if form.is_valid():
        draft = Draft(**form.cleaned_data)
        try:
            check_conditions_are_whole(request)
            if step == "start":
                return _start(request, draft, id)
            tried = backtest(request.actor, draft)
        except HubError as error:
            form.tell(error)
    rule = access_policy(request.actor, id) if id else None
    context = {
        "form": form,
        "tried": tried,
        "rule": rule,
        "history": history_of(rule) if rule else [],
        "classes": list(BY_CLASS),
    }
    return render(request, "policies/form.html", context, status=form_status(form))


def check_conditions_are_whole(request: SpaceRequest) -> None:
    """With a secret cut out a condition would mean something else."""
    if any(place[0] in ("what", "member", "value") for place in request.cut.places if place):
        check_always(request.cut, whole=True)


def _start(request: SpaceRequest, draft: Draft, id: str) -> HttpResponse:
    if id:
        change_policy(request.actor, id, draft, version=_version(request))
    else:
        create_policy(request.actor, draft)
    messages.success(request, _("“%(name)s” holds from now on.") % {"name": visible(draft.name)})
    return redirect("policies", request.account_slug, request.space.slug)


def _version(request: SpaceRequest) -> int:
    """The one that its person had before them; what is no number is none that a rule ever had."""
    told = request.POST.get("version", "")
    return int(told) if told.isdecimal() and len(told) < DIGITS else 0
