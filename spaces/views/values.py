from typing import Any
from urllib.parse import urlencode

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST

from accounts.domain.names import names_of
from memoryhub.common.errors import Conflict, HubError
from memoryhub.web.forms import form_status, pretty_json, show_refusal
from spaces.domain.values import access_value, delete_value, list_namespaces, list_values, set_value
from spaces.forms import NewValueForm, ValueForm
from spaces.models import Value
from spaces.views.conflicts import conflict_of
from spaces.views.requests import SpaceRequest, space_view


@space_view
def namespaces(request: SpaceRequest) -> HttpResponse:
    return render(request, "values/namespaces.html", {"namespaces": list_namespaces(request.actor)})


@space_view
def namespace(request: SpaceRequest, namespace: str) -> HttpResponse:
    page = list_values(request.actor, namespace, cursor=request.GET.get("page"))
    context = {"namespace": namespace, "values": page.items, "next_token": page.next_token}
    return render(request, "values/namespace.html", context)


@space_view
def new(request: SpaceRequest) -> HttpResponse:
    start = {"namespace": request.GET.get("namespace", ""), "version": 0}
    form = NewValueForm(request.POST or None, initial=start)
    if form.is_valid():
        data = form.cleaned_data
        try:
            set_value(request.actor, data["namespace"], data["key"], data["value"], expected_version=0)
        except Conflict:
            form.add_error("key", _("This key has a value already. Open it to change it."))
        except HubError as error:
            show_refusal(form, error)
        else:
            return redirect(_address(request, data["namespace"], data["key"]))
    return render(request, "values/new.html", {"form": form}, status=form_status(form))


@space_view
def value(request: SpaceRequest, namespace: str) -> HttpResponse:
    """One value; posting changes it if it is still at the version that was open."""
    stored = access_value(request.actor, namespace, request.GET.get("key", ""))
    if request.method != "POST":
        return _show(request, stored, _form_of(stored))
    form = ValueForm(request.POST)
    if not form.is_valid():
        return _show(request, stored, form, status=422)
    return _change(request, stored, form)


def _change(request: SpaceRequest, stored: Value, form: ValueForm) -> HttpResponse:
    data = form.cleaned_data
    try:
        set_value(
            request.actor, stored.namespace, stored.key, data["value"], expected_version=data["version"]
        )
    except Conflict:
        texts = {"yours": pretty_json(data["value"]), "theirs": pretty_json(stored.value)}
        conflict = conflict_of(form, version=stored.version, **texts)
        return _show(request, stored, form, conflict=conflict, status=409)
    except HubError as error:
        show_refusal(form, error)
        return _show(request, stored, form, status=error.status)
    messages.success(request, _("Saved."))
    return redirect(_address(request, stored.namespace, stored.key))


@space_view
@require_POST
def delete(request: SpaceRequest, namespace: str) -> HttpResponse:
    version = request.POST.get("version", "")
    delete_value(
        request.actor,
        namespace,
        request.GET.get("key", ""),
        expected_version=int(version) if version.isdigit() else None,
    )
    messages.success(request, _("The value is deleted."))
    return redirect("values-namespace", request.account_slug, request.space.slug, namespace)


def _form_of(stored: Value) -> ValueForm:
    return ValueForm(initial={"value": pretty_json(stored.value), "version": stored.version})


def _show(
    request: SpaceRequest, stored: Value, form: ValueForm, status: int = 200, **more: Any
) -> HttpResponse:
    writer = names_of(stored.account_id, [stored.written_by])[stored.written_by]
    context = {"value": stored, "form": form, "writer": writer, **more}
    return render(request, "values/value.html", context, status=status)


def _address(request: SpaceRequest, namespace: str, key: str) -> str:
    place = reverse("value", args=[request.account_slug, request.space.slug, namespace])
    return f"{place}?{urlencode({'key': key})}"
