from typing import ClassVar

from django.contrib import admin

from accounts.models import (
    Account,
    AgentKey,
    Application,
    Checkpoint,
    Event,
    Grant,
    Invitation,
    Job,
    Membership,
    User,
)
from memoryhub.web.admin import RowAdmin


@admin.register(Account)
class AccountAdmin(RowAdmin):
    account_path = "id"
    list_display = ("name", "slug", "actions_paused", "created_at")
    search_fields = ("name", "slug")


@admin.register(User)
class UserAdmin(RowAdmin):
    """Staff may end a person's access and make others staff; all else is the person's own or their team's."""

    account_path = "memberships__account_id"
    list_display = ("email", "name", "is_active", "is_staff", "last_login", "date_joined")
    list_filter = ("is_active", "is_staff")
    search_fields = ("email", "name")
    fields = (
        "email",
        "name",
        "time_zone",
        "is_active",
        "is_staff",
        "is_superuser",
        "last_login",
        "date_joined",
    )
    readonly_fields = ("email", "name", "time_zone", "last_login", "date_joined")

    def has_change_permission(self, request, obj=None):  # type: ignore[no-untyped-def]
        return bool(request.user.is_superuser)


@admin.register(Membership)
class MembershipAdmin(RowAdmin):
    list_display = ("user", "role", "created_at")
    list_filter = ("role",)
    search_fields = ("user__email", "user__name")


@admin.register(Invitation)
class InvitationAdmin(RowAdmin):
    list_display = ("email", "role", "invited_by", "created_at", "expires_at", "accepted_at")
    search_fields = ("email",)


@admin.register(AgentKey)
class AgentKeyAdmin(RowAdmin):
    list_display = ("name", "prefix", "hint", "created_by", "last_used_at", "expires_at", "revoked_at")
    search_fields = ("name", "prefix", "hint")


@admin.register(Grant)
class GrantAdmin(RowAdmin):
    list_display = ("name", "host", "user", "connected_at", "last_used_at", "revoked_at")
    search_fields = ("name", "host")


@admin.register(Event)
class EventAdmin(RowAdmin):
    list_display = ("seq", "type", "at", "actor", "object_type", "object_id")
    list_filter: ClassVar = ("type",)
    search_fields = ("type", "object_id", "actor")
    ordering = ("-at", "-id")


@admin.register(Checkpoint)
class CheckpointAdmin(RowAdmin):
    list_display = ("seq", "at", "key_id", "broken_at", "fault")
    search_fields = ("fault",)
    ordering = ("-at", "-id")


@admin.register(Job)
class JobAdmin(RowAdmin):
    list_display = ("kind", "object_id", "run_after", "tries", "leased_until", "last_error")
    search_fields = ("kind",)


@admin.register(Application)
class ApplicationAdmin(RowAdmin):
    """Clients belong to nobody in particular; only their names and redirects are shown."""

    list_display = ("name", "client_type", "authorization_grant_type", "created")
    search_fields = ("name", "client_id")
    fields = (
        "name",
        "client_id",
        "client_type",
        "authorization_grant_type",
        "redirect_uris",
        "created",
        "updated",
    )

    def get_queryset(self, request):  # type: ignore[no-untyped-def]
        return admin.ModelAdmin.get_queryset(self, request)
