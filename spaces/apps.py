from importlib import import_module

from django.apps import AppConfig

KINDS = (
    "memory_kind",
    "summary_kind",
    "journal_kind",
    "plan_kind",
    "record_kind",
    "value_kind",
    "ledger_kind",
    "capture_kind",
    "dream_kind",
    "event_kind",
)


class SpacesConfig(AppConfig):
    name = "spaces"
    verbose_name = "What a team remembers"

    def ready(self) -> None:
        """Every kind of stored thing makes itself known."""
        for kind in KINDS:
            import_module(f"spaces.domain.{kind}")
