from django.contrib import admin

from actions.models import (
    Action,
    ActionRevision,
    Approval,
    Attempt,
    Connection,
    Delivery,
    MailChoice,
    Notice,
    Policy,
    PolicyVersion,
    Webhook,
    WebhookLetter,
)
from memoryhub.web.admin import RowAdmin


@admin.register(Action)
class ActionAdmin(RowAdmin):
    list_display = ("__str__", "short_id", "space", "class_name", "status", "proposer_name", "created_at")
    list_filter = ("status", "class_name")
    search_fields = ("class_name", "id", "proposer_name", "agent")
    ordering = ("-created_at", "-id")


@admin.register(ActionRevision)
class ActionRevisionAdmin(RowAdmin):
    list_display = ("__str__", "action", "number", "digest", "created_at")
    search_fields = ("digest", "id")
    ordering = ("-created_at", "-id")


@admin.register(Approval)
class ApprovalAdmin(RowAdmin):
    list_display = ("__str__", "action", "revision", "decision", "user", "decided_at", "voided_at")
    list_filter = ("decision",)
    search_fields = ("digest", "user__email")
    ordering = ("-decided_at", "-id")


@admin.register(Attempt)
class AttemptAdmin(RowAdmin):
    list_display = ("__str__", "action", "number", "outcome", "reason", "started_at", "ended_at")
    list_filter = ("outcome",)
    search_fields = ("id", "digest")
    ordering = ("-started_at", "-id")


@admin.register(Connection)
class ConnectionAdmin(RowAdmin):
    """Without its tokens: not even sealed are they shown to anybody."""

    list_display = ("__str__", "vendor", "connected_by", "connected_at", "trouble", "revoked_at")
    list_filter = ("vendor",)
    search_fields = ("id", "vendor")
    ordering = ("-connected_at", "-id")


@admin.register(Policy)
class PolicyAdmin(RowAdmin):
    list_display = ("__str__", "space", "effect", "class_name", "version", "expires_at", "ended_at")
    list_filter = ("effect", "class_name")
    search_fields = ("id", "class_name")
    ordering = ("-created_at", "-id")


@admin.register(PolicyVersion)
class PolicyVersionAdmin(RowAdmin):
    list_display = ("__str__", "policy", "version", "written_by", "written_at")
    search_fields = ("id",)
    ordering = ("-written_at", "-id")


@admin.register(Webhook)
class WebhookAdmin(RowAdmin):
    """Without its address and secret: not even sealed are they shown to anybody."""

    list_display = ("__str__", "space", "off", "failing_since", "made_by", "created_at")
    list_filter = ("off",)
    search_fields = ("id",)
    ordering = ("-created_at", "-id")


@admin.register(Delivery)
class DeliveryAdmin(RowAdmin):
    list_display = ("__str__", "webhook", "event", "state", "tries", "status", "created_at")
    list_filter = ("state", "event")
    search_fields = ("id", "event")
    ordering = ("-created_at", "-id")


@admin.register(WebhookLetter)
class WebhookLetterAdmin(RowAdmin):
    list_display = ("__str__", "webhook", "user", "trouble", "created_at", "told_at")
    search_fields = ("id", "user__email")
    ordering = ("-created_at", "-id")


@admin.register(Notice)
class NoticeAdmin(RowAdmin):
    list_display = (
        "__str__",
        "action",
        "user",
        "about",
        "way",
        "urgent",
        "created_at",
        "told_at",
        "in_doubt",
    )
    list_filter = ("about", "way")
    search_fields = ("id", "user__email")
    ordering = ("-created_at", "-id")


@admin.register(MailChoice)
class MailChoiceAdmin(RowAdmin):
    list_display = ("__str__", "user", "mode", "hours", "slack", "slack_trouble")
    list_filter = ("mode", "slack")
    search_fields = ("id", "user__email")
    ordering = ("id",)
