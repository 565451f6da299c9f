"""The administration: Django's own, inside the one account that staff chose."""

from collections.abc import Callable
from functools import partial
from typing import Any
from uuid import UUID

from django.contrib import messages
from django.contrib.admin import AdminSite
from django.contrib.admin import action as admin_action
from django.contrib.auth.views import redirect_to_login
from django.core.exceptions import PermissionDenied, ValidationError
from django.http import Http404, HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import redirect, render
from django.template.response import TemplateResponse
from django.urls import path, reverse
from django.utils.translation import gettext_lazy as _

from accounts.domain.staff import enter_account, list_every_account
from accounts.views.fresh import ask_again, is_fresh
from memoryhub.common.ids import parse_id
from memoryhub.common.tenancy import tenant
from memoryhub.flows.export import stream_export
from memoryhub.flows.staff_export import check_staff, export_for_staff
from memoryhub.web.admin import ACCOUNT_KEY, RowAdmin
from memoryhub.web.spooled import download
from spaces.models import Space

View = Callable[..., HttpResponse]
NOT_OURS = {
    "auth",
    "account",
    "mfa",
    "usersessions",
    "oauth2_provider",
}  # groups we do not use; addresses and tokens of every account


class ExportingSpaces(RowAdmin):
    """Adds to the administration of spaces: staff with the permission take one away, which its people read of."""

    actions = ["export_space"]

    def has_export_permission(self, request: HttpRequest) -> bool:
        return bool(request.user.has_perm("spaces.export_space"))

    @admin_action(permissions=["export"], description=_("Export the space as a ZIP"))
    def export_space(self, request: HttpRequest, queryset: Any) -> HttpResponseBase | None:
        spaces = list(queryset[:2])
        if len(spaces) != 1:
            messages.error(request, _("Choose one space: each export is a file of its own."))
            return None
        user: Any = request.user
        export = export_for_staff(user, spaces[0], address=request.META.get("REMOTE_ADDR", ""))
        return download(export.name, partial(stream_export, export), partial(check_staff, user))


class HubAdminSite(AdminSite):
    site_header = site_title = _("Memory Hub administration")
    index_title = _("Rows of this account")
    enable_nav_sidebar = False

    def register(self, model_or_iterable: Any, admin_class: Any = None, **options: Any) -> None:
        models = model_or_iterable if isinstance(model_or_iterable, list | tuple) else [model_or_iterable]
        ours = [m for m in models if m._meta.app_label not in NOT_OURS and not self.is_registered(m)]
        if ours == [Space]:
            admin_class = type(admin_class.__name__, (ExportingSpaces, admin_class), {})
        super().register(ours, admin_class, **options)

    def get_urls(self) -> list[Any]:
        choose = path("account/", super().admin_view(self.choose), name="choose-account")
        return [choose, *super().get_urls()]

    def admin_view(self, view: Any, cacheable: bool = False) -> Any:
        return super().admin_view(self._inside(view), cacheable)

    def _inside(self, view: View) -> View:
        """Runs the view, and renders what it answers, in the chosen account."""

        def inner(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
            if must_ask(request):
                return ask_again(request, request.get_full_path())
            chosen = request.session.get(ACCOUNT_KEY)
            if chosen is None:
                return redirect("admin:choose-account")
            try:
                with tenant(UUID(chosen)):
                    return rendered(view(request, *args, **kwargs))
            except ValidationError as error:  # what is in the address has not the form of an id
                raise Http404 from error

        return inner

    def choose(self, request: HttpRequest) -> HttpResponse:
        user: Any = request.user
        if must_ask(request):
            return ask_again(request, request.get_full_path())
        if request.method == "POST":
            id = parse_id("acc", request.POST.get("account", ""))
            account = enter_account(user, id, address=request.META.get("REMOTE_ADDR", ""))
            request.session[ACCOUNT_KEY] = str(account.id)
            request.session["admin_account_name"] = account.name
            return redirect("admin:index")
        context = {
            **self.each_context(request),
            "accounts": list_every_account(user),
            "title": _("Choose an account"),
        }
        return render(request, "admin/choose_account.html", context)

    def each_context(self, request: HttpRequest) -> dict[str, Any]:
        return {
            **super().each_context(request),
            "chosen_account": request.session.get("admin_account_name")
            if request.session.get(ACCOUNT_KEY)
            else "",
        }

    def login(self, request: HttpRequest, extra_context: Any = None) -> HttpResponse:
        """Staff sign in where everyone does."""
        if request.user.is_authenticated:
            raise PermissionDenied
        return redirect_to_login(request.GET.get("next") or request.get_full_path())


def must_ask(request: HttpRequest) -> bool:
    """Entering a team, taking something out of it, and changing a person's standing; signing out needs nothing."""
    return request.method == "POST" and request.path != reverse("admin:logout") and not is_fresh(request)


def rendered(response: HttpResponse) -> HttpResponse:
    """Nothing lazy leaves the account."""
    if isinstance(response, TemplateResponse) and not response.is_rendered:
        response.render()
    return response
