from uuid import UUID

from django.contrib import admin
from django.db import models

from memoryhub.web.admin import ACCOUNT_KEY, RowAdmin
from spaces.domain.embeddings.changing import accounts_left, progress_of
from spaces.models import (
    AutoContext,
    Capture,
    DreamChange,
    DreamRun,
    EmbeddingFailure,
    EmbeddingModel,
    JournalEntry,
    JournalVersion,
    Memory,
    MemoryChunk,
    MemoryVersion,
    Plan,
    PlanVersion,
    Record,
    RecordVersion,
    Reminder,
    Space,
    SpaceMember,
    Summary,
    SummaryItem,
    Transaction,
    Transfer,
    TransferPart,
    Value,
)  # fmt: skip


@admin.register(Space)
class SpaceAdmin(RowAdmin):
    list_display = ("name", "slug", "time_zone", "visibility", "actions_paused", "created_at")
    search_fields = ("name", "slug")


@admin.register(SpaceMember)
class SpaceMemberAdmin(RowAdmin):
    list_display = ("space", "user", "role")
    search_fields = ("user__email",)


@admin.register(Memory)
class MemoryAdmin(RowAdmin):
    list_display = ("__str__", "kind", "subject", "tier", "origin", "trust", "status", "pinned", "created_at")
    list_filter = ("kind", "tier", "status", "trust")
    search_fields = ("text", "subject", "id")
    ordering = ("-created_at", "-id")


@admin.register(JournalEntry)
class JournalEntryAdmin(RowAdmin):
    list_display = ("__str__", "space", "kind", "date", "version", "updated_at")
    list_filter = ("kind",)
    search_fields = ("summary", "id")
    ordering = ("-date", "-id")


@admin.register(Plan)
class PlanAdmin(RowAdmin):
    list_display = ("__str__", "space", "title", "type", "status", "version", "updated_at")
    list_filter = ("type", "status")
    search_fields = ("title", "id")
    ordering = ("-updated_at", "-id")


@admin.register(Record)
class RecordAdmin(RowAdmin):
    list_display = ("__str__", "space", "collection", "key", "status", "due_at", "version", "updated_at")
    search_fields = ("collection", "key", "id")
    ordering = ("-created_at", "-id")


@admin.register(Value)
class ValueAdmin(RowAdmin):
    list_display = ("__str__", "space", "namespace", "key", "version", "updated_at")
    search_fields = ("namespace", "key")
    ordering = ("namespace", "key", "id")


@admin.register(Summary)
class SummaryAdmin(RowAdmin):
    list_display = ("__str__", "space", "agent", "session", "trigger", "created_at")
    list_filter = ("trigger",)
    search_fields = ("agent", "session", "id")
    ordering = ("-created_at", "-id")


@admin.register(SummaryItem)
class SummaryItemAdmin(RowAdmin):
    list_display = ("__str__", "summary", "memory", "position")
    ordering = ("-id",)


@admin.register(Transaction)
class TransactionAdmin(RowAdmin):
    list_display = ("__str__", "space", "type", "amount", "currency", "date", "category", "voided_at")
    list_filter = ("type", "currency")
    search_fields = ("item", "merchant", "id")
    ordering = ("-date", "-created_at", "-id")


@admin.register(Reminder)
class ReminderAdmin(RowAdmin):
    list_display = ("__str__", "space", "due_at", "recurrence", "completed_at", "version")
    search_fields = ("content", "id")
    ordering = ("-created_at", "-id")


@admin.register(Capture)
class CaptureAdmin(RowAdmin):
    list_display = ("__str__", "space", "state", "origin", "agent", "session", "created_at")
    list_filter = ("state",)
    search_fields = ("agent", "session", "id")
    ordering = ("-created_at", "-id")


@admin.register(MemoryVersion, JournalVersion, PlanVersion, RecordVersion)
class VersionAdmin(RowAdmin):
    list_display = ("__str__", "version", "written_by", "written_at")
    search_fields = ("id",)
    ordering = ("-written_at", "-id")


@admin.register(EmbeddingModel)
class EmbeddingModelAdmin(RowAdmin):
    """The same for every account."""

    list_display = (
        "name",
        "dimensions",
        "state",
        "covered",
        "left",
        "trouble",
        "trouble_since",
        "created_at",
    )
    list_filter = ("state",)
    exclude = ("canaries",)
    ordering = ("-id",)

    @admin.display(description="Covered in this account")
    def covered(self, model: EmbeddingModel) -> str:
        if model.state == "retired":
            return "–"
        found = progress_of(model.shown_in, model)  # type: ignore[attr-defined]
        return f"{found.done} of {found.memories} ({found.share:.0%})"

    @admin.display(description="Accounts left")
    def left(self, model: EmbeddingModel) -> str:
        return str(accounts_left()) if model.state == "building" else "–"

    def get_queryset(self, request):  # type: ignore[no-untyped-def]
        chosen = models.Value(UUID(request.session[ACCOUNT_KEY]), models.UUIDField())
        return admin.ModelAdmin.get_queryset(self, request).annotate(shown_in=chosen)


@admin.register(MemoryChunk)
class MemoryChunkAdmin(RowAdmin):
    """Which vectors there are; the numbers in them say nothing to a reader."""

    list_display = ("__str__", "memory", "model", "number")
    fields = ("memory", "model", "number", "space_id", "wide")
    ordering = ("-id",)


@admin.register(AutoContext)
class AutoContextAdmin(RowAdmin):
    list_display = ("__str__", "credential", "session", "enabled", "auto_trace", "updated_at")
    list_filter = ("enabled",)
    ordering = ("-updated_at", "-id")


@admin.register(EmbeddingFailure)
class EmbeddingFailureAdmin(RowAdmin):
    list_display = ("__str__", "memory", "model", "note", "failed_at")
    ordering = ("-failed_at", "-id")


@admin.register(DreamRun)
class DreamRunAdmin(RowAdmin):
    list_display = ("__str__", "space", "kind", "thinker", "status", "review", "created_at", "finished_at")
    list_filter = ("kind", "thinker", "status")
    ordering = ("-created_at", "-id")


@admin.register(DreamChange)
class DreamChangeAdmin(RowAdmin):
    """What happened; the texts are on the page, for who may read the space."""

    list_display = ("__str__", "run", "number", "op", "state", "code")
    list_filter = ("op", "state")
    exclude = ("proposal", "before", "after")
    ordering = ("-id",)

    def get_exclude(self, request, obj=None):  # type: ignore[no-untyped-def]
        return [*super().get_exclude(request, obj), *self.exclude]


@admin.register(Transfer)
class TransferAdmin(RowAdmin):
    list_display = ("__str__", "direction", "space", "user", "state", "done", "total", "created_at")
    list_filter = ("direction", "state")
    exclude = ("report",)
    ordering = ("-created_at", "-id")


@admin.register(TransferPart)
class TransferPartAdmin(RowAdmin):
    """That there is a piece; what is in it is its taker's."""

    list_display = ("__str__", "transfer", "number")
    fields = ("transfer", "number")
    ordering = ("-id",)
