"""The audit trail of a team: every event, the state of their chain, and a copy to take away."""

from functools import partial
from typing import Any

from django.contrib import messages
from django.http import HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST, require_safe

from accounts.domain.accounts import member_actor
from accounts.domain.audit import (
    ask_for_check,
    chain_state,
    check_may_audit,
    list_audit,
    nouns,
    open_download,
    writers,
)
from accounts.domain.names import names_of
from accounts.forms import AuditForm
from accounts.models import Event
from accounts.views.fresh import fresh_sign_in_required
from accounts.views.requests import MemberRequest
from memoryhub.common.odd import visible
from memoryhub.web.spooled import download
from spaces.domain.access import list_spaces

NARROWS = ("noun", "by", "space", "since", "until", "object")


@require_safe
def audit(request: MemberRequest, account: str) -> HttpResponse:
    check_may_audit(request.actor)
    form, asked_by = _form(request)
    page = list_audit(request.actor, form.asked(), token=request.GET.get("page"))
    spaces = dict(form.fields["space"].choices)  # type: ignore[attr-defined]
    context = {
        "form": form,
        "chain": chain_state(request.actor),
        "rows": [_row(event, asked_by, spaces) for event in page.items],
        "next_token": page.next_token,
        "narrowed": any(request.GET.get(name) for name in NARROWS),
    }
    return render(request, "audit/audit.html", context)


@require_POST
def check(request: MemberRequest, account: str) -> HttpResponse:
    ask_for_check(request.actor)
    messages.success(request, _("Every event is being looked at again."))
    return redirect("audit", account)


@require_safe
@fresh_sign_in_required
def take(request: MemberRequest, account: str) -> HttpResponseBase:
    """What the page is narrowed down to, as JSON lines."""
    check_may_audit(request.actor)
    actor = request.actor
    lines = open_download(actor, _form(request)[0].asked())
    still = partial(_still_may, actor.user_id, actor.account_id)
    return download(f"memory-hub-{account}-audit.jsonl", lambda: lines, still, "application/x-ndjson")


def _still_may(user_id: Any, account_id: Any) -> None:
    check_may_audit(member_actor(user_id, account_id))


def _form(request: MemberRequest) -> tuple[AuditForm, dict[str, str]]:
    named = names_of(request.actor.account_id, writers(request.actor))
    form = AuditForm(
        request.GET,
        noun={noun: noun.replace("_", " ") for noun in nouns(request.actor)},
        by={credential: visible(name) for credential, name in named.items()},
        space={str(space.id): visible(space.name) for space in list_spaces(request.actor)},
    )
    return form, named


def _row(event: Event, named: dict[str, str], spaces: dict[str, str]) -> dict[str, object]:
    return {
        "event": event,
        "what": event.type.replace(".", " ").replace("_", " "),
        "by": named[event.actor],
        "kind": event.actor.partition(":")[0],
        "space": spaces.get(str(event.space_id), "") if event.space_id else "",
        "hash": bytes(event.hash or b"").hex(),
    }
