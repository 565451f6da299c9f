import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST

from accounts.domain.names import names_of
from accounts.middleware import asks_first
from memoryhub.common.errors import Conflict, HubError
from memoryhub.common.ids import typed_id
from memoryhub.common.tenancy import tenant
from memoryhub.common.times import format_time
from memoryhub.web.forms import form_status, show_refusal
from spaces.domain.embeddings import QueryMeaning, coming_progress
from spaces.domain.memories import (
    Candidate,
    Wanted,
    access_memory,
    count_held,
    edit_memory,
    find_memories,
    list_versions,
    meaning_of,
    memory_facets,
    remember,
    told,
)  # fmt: skip
from spaces.forms import MemoryForm
from spaces.models import Memory
from spaces.views.conflicts import conflict_of
from spaces.views.requests import SpaceRequest, space_view
from spaces.views.versions import Written, shown_versions

SHOWN = 50
FACETS = ("kind", "tier", "origin", "tag", "subject", "status")
UNSPACED = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")


@dataclass(frozen=True)
class Row:
    """`met` are the words of the query that it has, `marks` where they stand; `alike` (per cent): by meaning."""

    memory: Memory
    id: str
    writer: str
    met: Sequence[str]
    marks: list[tuple[int, int]]
    alike: int = 0
    beside: bool = False


@asks_first
def memories(request: SpaceRequest, account: str, space: str) -> HttpResponse:
    """The question's vector may take a while: the account is opened when it is there."""
    meaning = meaning_of(request.GET.get("q", ""))
    with tenant(request.actor.account_id):
        return found_memories(request, account, space, meaning=meaning)


@space_view
def found_memories(request: SpaceRequest, *, meaning: QueryMeaning) -> HttpResponse:
    query = request.GET.get("q", "")
    chosen: dict[str, Any] = {name: request.GET[name] for name in FACETS if request.GET.get(name)}
    wanted = Wanted(**chosen)
    found = find_memories(
        request.actor,
        query,
        wanted,
        limit=SHOWN,
        cursor=request.GET.get("page"),
        explain=True,
        meaning=meaning,
    )
    context = {
        "query": query,
        "chosen": chosen,
        "mode": found.mode,
        "notes": found.notes,
        "rows": _rows(request, found.page.items, found.reasons),
        "next_token": found.page.next_token,
        "facets": memory_facets(request.actor, wanted),
        "held": count_held(request.actor, request.space),
    }
    if "HX-Request" in request.headers:
        return render(request, "memories/_found.html", context)
    context["coming"] = coming_progress(request.actor.account_id)
    return render(request, "memories/memories.html", context)


def _rows(request: SpaceRequest, memories: Sequence[Memory], reasons: Mapping[UUID, Candidate]) -> list[Row]:
    names = names_of(request.actor.account_id, (memory.written_by for memory in memories))
    return [_row(memory, names[memory.written_by], reasons.get(memory.id)) for memory in memories]


def _row(memory: Memory, writer: str, reason: Candidate | None) -> Row:
    met = reason.met if reason else ()
    return Row(
        memory,
        typed_id("mem", memory.id),
        writer,
        met,
        marks_in(memory.text, met),
        alike=round(100 * (reason.similarity or 0)) if reason else 0,
        beside=bool(reason and reason.neighbour),
    )


def marks_in(text: str, words: Iterable[str]) -> list[tuple[int, int]]:
    """Where the words begin a word of the text, in any case: (start, end), in order, apart."""
    patterns = [
        re.escape(word) if UNSPACED.search(word) else rf"(?<!\w){re.escape(word)}\w*" for word in words
    ]
    if not patterns:
        return []
    return [match.span() for match in re.finditer("|".join(patterns), text, re.IGNORECASE)]


@space_view
def new(request: SpaceRequest) -> HttpResponse:
    form = MemoryForm(request.POST or None)
    if form.is_valid():
        try:
            remembered = remember(request.actor, origin="user", **_statement(form.cleaned_data))
        except HubError as error:
            show_refusal(form, error)
        else:
            said = (
                _("Remembered.")
                if remembered.created
                else _("This was known already: it counts as seen again.")
            )
            messages.success(request, said)
            return _to(request, remembered.memory)
    return render(request, "memories/new.html", {"form": form}, status=form_status(form))


@space_view
def memory(request: SpaceRequest, memory: str) -> HttpResponse:
    """One memory; posting changes it if it is still at the version that was open."""
    stored = access_memory(request.actor, memory)
    if request.method != "POST":
        return _show(request, stored, _form_of(stored))
    form = MemoryForm(request.POST)
    if not form.is_valid():
        return _show(request, stored, form, status=422)
    return _change(request, stored, form)


def _change(request: SpaceRequest, stored: Memory, form: MemoryForm) -> HttpResponse:
    data = form.cleaned_data
    try:
        edit_memory(request.actor, stored.id, expected_version=data["version"] or 0, **_statement(data))
    except Conflict as conflict:
        if stored.version == data["version"]:
            form.add_error("text", conflict.message)
            return _show(request, stored, form, status=409)
        yours, theirs = text_of(data), text_of(told(stored))
        shown = conflict_of(form, yours=yours, theirs=theirs, version=stored.version)
        return _show(request, stored, form, conflict=shown, status=409)
    except HubError as error:
        show_refusal(form, error)
        return _show(request, stored, form, status=error.status)
    messages.success(request, _("Saved."))
    return _to(request, stored)


@space_view
@require_POST
def pin(request: SpaceRequest, memory: str) -> HttpResponse:
    stored = edit_memory(request.actor, memory, pinned=request.POST.get("pinned") == "on")
    return _to(request, stored)


def _statement(data: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in data.items() if name != "version"}


def _form_of(stored: Memory) -> MemoryForm:
    expires = format_time(stored.expires_at) if stored.expires_at else ""
    initial = {name: getattr(stored, name) for name in MemoryForm.base_fields if name != "expires_at"}
    return MemoryForm(initial={**initial, "expires_at": expires})


def text_of(fields: dict[str, Any]) -> str:
    """A memory as one text, for comparing."""
    lines = [
        f"{_('Subject')}: {fields['subject']}" if fields["subject"] else "",
        f"{_('Kind')}: {fields['kind']} · {_('Tier')}: {fields['tier']}",
        f"{_('Tags')}: {', '.join(fields['tags'])}" if fields["tags"] else "",
        f"{_('Source')}: {fields['source_ref']}" if fields["source_ref"] else "",
        f"{_('Expires')}: {fields['expires_at']}" if fields["expires_at"] else "",
        _("Pinned") if fields["pinned"] else "",
    ]
    return "\n".join([fields["text"], "", *filter(None, lines)])


def _show(
    request: SpaceRequest, stored: Memory, form: MemoryForm, status: int = 200, **more: Any
) -> HttpResponse:
    earlier = list_versions(request.actor, stored.id, cursor=request.GET.get("page"))
    current = Written(stored.version, told(stored), stored.written_by, stored.updated_at)
    context = {
        "row": _rows(request, [stored], {})[0],
        "memory": stored,
        "form": form,
        "before": typed_id("mem", stored.superseded_by_id) if stored.superseded_by_id else "",
        "versions": shown_versions(stored.account_id, current, earlier.items, text_of),
        "next_token": earlier.next_token,
        **more,
    }
    return render(request, "memories/memory.html", context, status=status)


def _to(request: SpaceRequest, stored: Memory) -> HttpResponse:
    return redirect("memory", request.account_slug, request.space.slug, typed_id("mem", stored.id))
