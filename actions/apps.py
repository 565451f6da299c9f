from importlib import import_module

from django.apps import AppConfig


class ActionsConfig(AppConfig):
    name = "actions"
    verbose_name = "What agents propose"

    def ready(self) -> None:
        """Actions make themselves known as a kind of stored thing."""
        import_module("actions.domain.action_kind")
