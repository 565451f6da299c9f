"""The rules of a space: what is denied, what asks people, and what is approved by itself."""

from dataclasses import dataclass
from typing import Any

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST, require_safe

from accounts.scopes import Right
from accounts.views.fresh import fresh_sign_in_required
from actions.domain.actions import access_action
from actions.domain.policies.conditions import ANY_CLASS, BY_CLASS
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
from actions.forms import PolicyForm
from memoryhub.common.errors import HubError
from memoryhub.common.odd import visible
from memoryhub.web.forms import form_status, pretty_json, show_refusal
from spaces.views.requests import SpaceRequest, space_view

DIGITS = 10


@dataclass(frozen=True)
class Known:
    """The conditions of a class, for the table beside the form."""

    class_name: str
    conditions: list[tuple[str, str, str]]


@space_view
@require_safe
def policies(request: SpaceRequest) -> HttpResponse:
    context = {"rules": list_policies(request.actor), "may_rule": request.actor.has(Right.MANAGE)}
    return render(request, "policies/list.html", context)


@space_view
@fresh_sign_in_required
def new_policy(request: SpaceRequest) -> HttpResponse:
    """With `like`, every field is pinned to what that action is. A rule is first tried on the last 30 days."""
    like = request.GET.get("like", "")
    start = _fields(pinned_draft(access_action(request.actor, like))) if like else {}
    return _form(request, start)


@space_view
@fresh_sign_in_required
def policy(request: SpaceRequest, policy: str) -> HttpResponse:
    rule = access_policy(request.actor, policy)
    start = {name: getattr(rule, name) for name in PolicyForm.base_fields}
    return _form(request, {**start, "conditions": pretty_json(rule.conditions)}, policy)


@space_view
@require_POST
def end(request: SpaceRequest, policy: str) -> HttpResponse:
    end_policy(request.actor, policy)
    messages.success(request, _("The rule has ended. What it had approved is not carried out any more."))
    return redirect("policies", request.account_slug, request.space.slug)


def _form(request: SpaceRequest, start: dict[str, Any], id: str = "") -> HttpResponse:
    form = PolicyForm(request.POST or None, initial=start)
    tried = None
    if form.is_valid():
        draft = Draft(**form.cleaned_data)
        try:
            if request.POST.get("step") == "start":
                return _start(request, draft, id)
            tried = backtest(request.actor, draft)
        except HubError as error:
            show_refusal(form, error)
    rule = access_policy(request.actor, id) if id else None
    context = {
        "form": form,
        "tried": tried,
        "rule": rule,
        "history": history_of(rule) if rule else [],
        "known": _known(),
    }
    return render(request, "policies/form.html", context, status=form_status(form))


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


def _fields(draft: Draft) -> dict[str, Any]:
    named = {name: getattr(draft, name) for name in PolicyForm.base_fields}
    return {**named, "conditions": pretty_json(draft.conditions)}


def _known() -> list[Known]:
    classes = [*BY_CLASS.items(), (_("any class"), ANY_CLASS)]
    return [
        Known(name, [(key, condition.label, condition.kind) for key, condition in conditions.items()])
        for name, conditions in classes
    ]
