from datetime import date
from typing import Any

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST

from memoryhub.common.errors import Conflict, HubError, NotFound
from memoryhub.common.times import parse_date
from memoryhub.web.forms import form_status, show_refusal
from spaces.domain.journal import (
    Log,
    access_entry,
    delete_entry,
    list_entry_versions,
    list_journal,
    state,
    today_in,
    write_journal,
)  # fmt: skip
from spaces.forms import JournalForm, NewJournalForm
from spaces.models import JournalEntry
from spaces.views.conflicts import conflict_of
from spaces.views.requests import SpaceRequest, space_view
from spaces.views.versions import Written, shown_versions

KINDS = ("day", "week")


@space_view
def journal(request: SpaceRequest) -> HttpResponse:
    kind = request.GET.get("kind", "")
    page = list_journal(
        request.actor, kind=kind if kind in KINDS else None, limit=20, cursor=request.GET.get("page")
    )
    context = {
        "entries": page.items,
        "next_token": page.next_token,
        "kind": kind,
        "today": today_in(request.space),
    }
    return render(request, "journal/journal.html", context)


@space_view
def new(request: SpaceRequest) -> HttpResponse:
    form = NewJournalForm(request.POST or None, initial={"date": today_in(request.space).isoformat()})
    if form.is_valid():
        data = form.cleaned_data
        try:
            day = parse_date(data["date"], "date")
            entry, _created = write_journal(
                request.actor, day, _log(data), kind=data["kind"], expected_version=0
            )
        except Conflict:
            form.add_error("date", _("There is an entry for this date already. Open it to change it."))
        except HubError as error:
            show_refusal(form, error)
        else:
            messages.success(request, _("Saved."))
            return _to(request, entry)
    return render(request, "journal/new.html", {"form": form}, status=form_status(form))


@space_view
def entry(request: SpaceRequest, kind: str, day: str) -> HttpResponse:
    """One entry; posting changes it if it is still at the version that was open."""
    stored = access_entry(request.actor, _day(day), kind=kind)
    if request.method != "POST":
        return _show(request, stored, JournalForm(initial={**state(stored), "version": stored.version}))
    form = JournalForm(request.POST)
    if not form.is_valid():
        return _show(request, stored, form, status=422)
    return _change(request, stored, form)


def _change(request: SpaceRequest, stored: JournalEntry, form: JournalForm) -> HttpResponse:
    log, version = _log(form.cleaned_data), form.cleaned_data["version"]
    try:
        write_journal(request.actor, stored.date, log, kind=stored.kind, expected_version=version)
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
def delete(request: SpaceRequest, kind: str, day: str) -> HttpResponse:
    delete_entry(request.actor, _day(day), kind=kind)
    messages.success(request, _("The entry is deleted, with its earlier versions."))
    return redirect("journal", request.account_slug, request.space.slug)


def text_of(log: dict[str, Any]) -> str:
    """An entry as one text, for comparing."""
    headings = {"decisions": _("Decisions"), "open_loops": _("Open loops"), "source_refs": _("Sources")}
    parts = [log["summary"]]
    for name, heading in headings.items():
        if log[name]:
            parts.append("\n".join([f"{heading}:", *(f"• {item}" for item in log[name])]))
    return "\n\n".join(filter(None, parts))


def _day(text: str) -> date:
    try:
        return parse_date(text, "date")
    except HubError as error:
        raise NotFound("journal entry") from error


def _log(data: dict[str, Any]) -> Log:
    return Log(data["summary"], data["decisions"], data["open_loops"], data["source_refs"])


def _show(
    request: SpaceRequest, stored: JournalEntry, form: JournalForm, status: int = 200, **more: Any
) -> HttpResponse:
    earlier = list_entry_versions(
        request.actor, stored.date, kind=stored.kind, cursor=request.GET.get("page")
    )
    current = Written(stored.version, state(stored), stored.written_by, stored.updated_at)
    context = {
        "entry": stored,
        "form": form,
        "versions": shown_versions(stored.account_id, current, earlier.items, text_of),
        "next_token": earlier.next_token,
        **more,
    }
    return render(request, "journal/entry.html", context, status=status)


def _to(request: SpaceRequest, entry: JournalEntry) -> HttpResponse:
    place = [request.account_slug, request.space.slug, entry.kind, entry.date.isoformat()]
    return redirect("journal-entry", *place)
