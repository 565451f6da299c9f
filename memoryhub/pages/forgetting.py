"""Forgetting by hand: first everything that would go, row by row; then, once that is confirmed, exactly that."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from django import forms
from django.contrib import messages
from django.db import transaction
from django.http import HttpResponse, QueryDict
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from memoryhub.common.errors import Conflict, HubError
from memoryhub.flows.forgetting import Reached, forget
from memoryhub.flows.sources import digest_of, forget_written, written
from memoryhub.web.forms import form_status, show_refusal
from spaces.views.requests import SpaceRequest, space_view

WORD = "forget"
NOT_CONFIRMED = gettext_lazy("Type the word “%(word)s” to confirm.")


class ForgetForm(forms.Form):
    query = forms.CharField(
        label=gettext_lazy("What is to be forgotten?"),
        max_length=1000,
        required=False,
        help_text=gettext_lazy(
            "Memories with all of these words; records and journal entries with this exact phrase."
        ),
    )
    ids = forms.CharField(required=False, widget=forms.HiddenInput)
    scopes = forms.MultipleChoiceField(
        label=gettext_lazy("Where"),
        choices=[
            ("memories", gettext_lazy("Memories")),
            ("records", gettext_lazy("Records")),
            ("journal", gettext_lazy("Journal")),
        ],
        widget=forms.CheckboxSelectMultiple,
    )
    whole_entries = forms.BooleanField(
        label=gettext_lazy("Delete journal entries whole"),
        required=False,
        help_text=gettext_lazy("Otherwise only the phrase is cut out of them."),
    )

    def arguments(self) -> dict[str, Any]:
        data = self.cleaned_data
        return {
            "ids": data["ids"].split(),
            "query": data["query"],
            "scopes": data["scopes"],
            "redact": not data["whole_entries"],
        }


@dataclass(frozen=True)
class Preview:
    """`digest` names the exact rows: forgetting sends it back, and reaches these or nothing."""

    reached: Mapping[str, Reached]

    @property
    def count(self) -> int:
        return sum(len(found.hits) for found in self.reached.values())

    @property
    def digest(self) -> str:
        return digest_of(self.reached)

    @property
    def rows(self) -> list[tuple[str, str, str]]:
        return [
            (scope, id, hit.sample)
            for scope, found in self.reached.items()
            for id, hit in zip(found.ids, found.hits, strict=True)
        ]


@space_view
def forgetting(request: SpaceRequest) -> HttpResponse:
    """By words or rows; or, with `?key=…` or `?session=…`, all that it wrote."""
    if source := _source(request):
        return _of_a_source(request, source)
    given = request.POST if request.method == "POST" else request.GET
    asked = any(given.get(name) for name in ("query", "ids"))
    form = ForgetForm(_with_scopes(given)) if asked else ForgetForm(initial={"scopes": ["memories"]})
    preview = _preview(request, form) if asked and form.is_valid() else None
    if request.method == "POST" and preview:
        return _forget(request, form, preview)
    return _page(request, form, preview, status=form_status(form))


def _source(request: SpaceRequest) -> dict[str, str]:
    return {name: said for name in ("key", "session") if (said := request.GET.get(name, ""))}


def _of_a_source(request: SpaceRequest, source: dict[str, str]) -> HttpResponse:
    form, preview = ForgetForm(initial={"scopes": ["memories"]}), Preview(written(request.actor, **source))
    if request.method != "POST":
        return _page(request, form, preview, status=200)
    if not _confirmed(request):
        return _page(request, form, preview, wrong=NOT_CONFIRMED % {"word": WORD}, status=422)
    try:
        gone = forget_written(request.actor, expected=request.POST.get("digest", ""), **source)
    except HubError as error:
        return _page(request, form, preview, wrong=error.message, status=error.status)
    return _forgotten(request, gone)


def _confirmed(request: SpaceRequest) -> bool:
    return request.POST.get("confirm", "").strip().lower() == WORD


def _forgotten(request: SpaceRequest, gone: int) -> HttpResponse:
    said = ngettext("%(n)s row is forgotten.", "%(n)s rows are forgotten.", gone)
    messages.success(request, said % {"n": gone})
    return redirect("memories", request.account_slug, request.space.slug)


def _with_scopes(given: QueryDict) -> QueryDict:
    with_scopes = given.copy()
    if "scopes" not in with_scopes:
        with_scopes["scopes"] = "memories"
    return with_scopes


def _preview(request: SpaceRequest, form: ForgetForm) -> Preview | None:
    try:
        return Preview(forget(request.actor, dry_run=True, **form.arguments()))
    except HubError as error:
        show_refusal(form, error)
        return None


def _forget(request: SpaceRequest, form: ForgetForm, preview: Preview) -> HttpResponse:
    if not _confirmed(request):
        return _page(request, form, preview, wrong=NOT_CONFIRMED % {"word": WORD}, status=422)
    try:
        gone = _exactly(request, form, request.POST.get("digest", ""))
    except HubError as error:
        return _page(request, form, preview, wrong=error.message, status=error.status)
    return _forgotten(request, gone)


def _exactly(request: SpaceRequest, form: ForgetForm, expected: str) -> int:
    """All of the rows that were listed and no other, or none."""
    with transaction.atomic():
        done = Preview(forget(request.actor, **form.arguments()))
        if done.digest != expected:
            raise Conflict(
                _("The list has changed since it was shown. Nothing is forgotten; look at it again.")
            )
        return done.count


def _page(
    request: SpaceRequest, form: ForgetForm, preview: Preview | None, *, status: int, wrong: object = ""
) -> HttpResponse:
    context = {"form": form, "preview": preview, "wrong": wrong, "word": WORD}
    return render(request, "forget/forget.html", context, status=status)
