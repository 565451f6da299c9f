"""What the administration of every app shares: rows of the account that staff chose, for reading."""

from typing import TYPE_CHECKING, Any, ClassVar

from django.contrib import admin
from django.db.models import Field, Model, QuerySet
from django.http import HttpRequest

ACCOUNT_KEY = "admin_account"

if TYPE_CHECKING:
    _ModelAdmin = admin.ModelAdmin[Any]
else:
    _ModelAdmin = admin.ModelAdmin


class RowAdmin(_ModelAdmin):
    """Rows of one account, read-only: changing them is the domain's business, with its guards and events.

    `account_path` is the way from the model to its account.
    """

    account_path: ClassVar[str] = "account_id"
    list_per_page = 50
    show_full_result_count = False

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        chosen = request.session.get(ACCOUNT_KEY)
        return super().get_queryset(request).filter(**{self.account_path: chosen})

    def get_list_display(self, request: HttpRequest) -> list[Any]:
        return list(self.list_display) if self.list_display != ("__str__",) else _columns(self.model)

    def get_exclude(self, request: HttpRequest, obj: Any = None) -> list[str]:
        """Hashes and search vectors say nothing to a reader, and secrets' hashes are nobody's business."""
        return [
            field.name for field in self.model._meta.fields if not field.editable and not field.primary_key
        ]

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False


def _columns(model: type[Model]) -> list[str]:
    wide = ("TextField", "JSONField", "ArrayField", "BinaryField", "SearchVectorField", "SparseVectorField")
    fields: list[Field[Any, Any]] = list(model._meta.fields)
    plain = [
        f.name for f in fields if f.get_internal_type() not in wide and f.name != "account" and f.editable
    ]
    return ["__str__", *plain[:6]]
