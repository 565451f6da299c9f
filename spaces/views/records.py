from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, cast

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST

from accounts.domain.accounts import person_actor
from accounts.models import User
from memoryhub.common.errors import Conflict, HubError
from memoryhub.common.ids import typed_id
from memoryhub.common.tenancy import tenant
from memoryhub.web.forms import form_status, pretty_json, show_refusal
from memoryhub.web.spooled import download
from spaces.domain.access import access_space
from spaces.domain.due import due_records, is_open_status
from spaces.domain.records import (
    Changes,
    access_record,
    count_statuses,
    delete_record,
    due_text,
    list_collections,
    list_record_versions,
    put_record,
    query_records,
    state,
    update_record,
)  # fmt: skip
from spaces.domain.tabling import stream_csv
from spaces.forms import NewRecordForm, RecordForm
from spaces.models import Record, Space
from spaces.views.conflicts import conflict_of
from spaces.views.due import DueBadge, due_badge
from spaces.views.requests import SpaceRequest, space_view
from spaces.views.versions import Written, shown_versions

DUE_DAYS = 7
COLUMNS = 3


@dataclass(frozen=True)
class Row:
    record: Record
    id: str
    due: DueBadge | None
    is_open: bool
    cells: list[Any]


@space_view
def collections(request: SpaceRequest) -> HttpResponse:
    due = due_records(request.actor, request.space, within_days=DUE_DAYS)
    rows = _rows([*due.overdue, *due.due], request.space, [])
    context = {"collections": list_collections(request.actor), "due": rows, "due_total": due.total}
    return render(request, "records/collections.html", context)


@space_view
def collection(request: SpaceRequest, collection: str) -> HttpResponse:
    counts = count_statuses(request.actor, collection)
    chosen = request.GET.get("status", "open*" if counts else "")
    page = query_records(
        request.actor,
        collection,
        statuses=_statuses(request.space, collection, counts, chosen),
        cursor=request.GET.get("page"),
    )
    columns = _columns(page.items)
    context = {
        "collection": collection,
        "chosen": chosen,
        "counts": counts,
        "columns": columns,
        "rows": _rows(page.items, request.space, columns),
        "next_token": page.next_token,
    }
    return render(request, "records/collection.html", context)


def _statuses(space: Space, collection: str, counts: dict[str, int], chosen: str) -> list[str]:
    """`open*` is every status that is not a closing one here; none at all where all are closed."""
    if chosen == "open*":
        return [s for s in counts if is_open_status(space, collection, s)] or ["open"]
    return [chosen] if chosen and chosen != "all*" else []


def _columns(records: Sequence[Record]) -> list[str]:
    """The fields that most of these records have, where they are short enough for a column."""
    usual = Counter(name for record in records for name, value in record.data.items() if _is_short(value))
    return [name for name, _times in usual.most_common(COLUMNS)]


def _is_short(value: object) -> bool:
    return isinstance(value, int | float | bool) or (isinstance(value, str) and len(value) <= 60)


def _rows(records: Sequence[Record], space: Space, columns: list[str]) -> list[Row]:
    return [
        Row(
            record,
            typed_id("rec", record.id),
            due_badge(record, space),
            is_open_status(space, record.collection, record.status),
            [{"name": name, "value": record.data.get(name, "")} for name in columns],
        )
        for record in records
    ]


@space_view
def new(request: SpaceRequest) -> HttpResponse:
    form = NewRecordForm(request.POST or None, initial={"collection": request.GET.get("collection", "")})
    if form.is_valid():
        data = form.cleaned_data
        try:
            record, created = put_record(request.actor, data["collection"], _changes(data), key=data["key"])
        except HubError as error:
            show_refusal(form, error, data="content")
        else:
            said = _("Saved.") if created else _("There was a record with this key: it is changed.")
            messages.success(request, said)
            return _to(request, record)
    return render(request, "records/new.html", {"form": form}, status=form_status(form))


@space_view
def table(request: SpaceRequest, collection: str) -> HttpResponse:
    """The collection as CSV. Who is removed while it comes gets no more of it."""
    still = partial(_still_reads, request.user, request.account_slug, request.space.slug)
    lines = stream_csv(request.actor, request.space, collection)
    answer = download(f"{collection}.csv", lambda: lines, still, "text/csv; charset=utf-8")
    return cast("HttpResponse", answer)


def _still_reads(user: User, account: str, space: str) -> None:
    actor = person_actor(user, account)
    with tenant(actor.account_id):
        access_space(actor, space)


def _changes(data: dict[str, Any], stored: Record | None = None) -> Changes:
    """A form holds the whole record: what its data leaves out is removed."""
    gone = {name: None for name in (stored.data if stored else {}) if name not in data["content"]}
    return Changes(
        status=data["status"], due_at=data["due_at"], data={**gone, **data["content"]}, origin="user"
    )


@space_view
def record(request: SpaceRequest, collection: str, record: str) -> HttpResponse:
    """One record; posting changes it if it is still at the version that was open."""
    stored = access_record(request.actor, collection, record)
    if request.method != "POST":
        return _show(request, stored, _form_of(stored))
    form = RecordForm(request.POST)
    if not form.is_valid():
        return _show(request, stored, form, status=422)
    return _change(request, stored, form)


def _change(request: SpaceRequest, stored: Record, form: RecordForm) -> HttpResponse:
    data = form.cleaned_data
    changes = _changes(data, stored)
    try:
        update_record(
            request.actor, stored.collection, stored.id, changes, expected_version=data["version"] or 0
        )
    except Conflict:
        yours = pretty_json(
            {"status": data["status"], "due_at": data["due_at"] or None, "data": data["content"]}
        )
        conflict = conflict_of(form, yours=yours, theirs=_text(stored), version=stored.version)
        return _show(request, stored, form, conflict=conflict, status=409)
    except HubError as error:
        show_refusal(form, error, data="content")
        return _show(request, stored, form, status=error.status)
    messages.success(request, _("Saved."))
    return _to(request, stored)


@space_view
@require_POST
def delete(request: SpaceRequest, collection: str, record: str) -> HttpResponse:
    delete_record(request.actor, collection, record)
    messages.success(request, _("The record is deleted, with its earlier versions."))
    return redirect("collection", request.account_slug, request.space.slug, collection)


def _form_of(stored: Record) -> RecordForm:
    initial = {
        "status": stored.status,
        "due_at": due_text(stored) or "",
        "content": pretty_json(stored.data),
        "version": stored.version,
    }
    return RecordForm(initial=initial)


def _text(stored: Record) -> str:
    return pretty_json({"status": stored.status, "due_at": due_text(stored), "data": stored.data})


def _show(
    request: SpaceRequest, stored: Record, form: RecordForm, status: int = 200, **more: Any
) -> HttpResponse:
    earlier = list_record_versions(
        request.actor, stored.collection, stored.id, cursor=request.GET.get("page")
    )
    current = Written(stored.version, state(stored), stored.written_by, stored.updated_at)
    context = {
        "row": _rows([stored], request.space, [])[0],
        "record": stored,
        "form": form,
        "versions": shown_versions(stored.account_id, current, earlier.items, pretty_json),
        "next_token": earlier.next_token,
        **more,
    }
    return render(request, "records/record.html", context, status=status)


def _to(request: SpaceRequest, stored: Record) -> HttpResponse:
    place = [request.account_slug, request.space.slug, stored.collection, typed_id("rec", stored.id)]
    return redirect("record", *place)
