from importlib import import_module

from django.apps import AppConfig


class ActionsConfig(AppConfig):
    name = "actions"
    verbose_name = "What agents propose"

    def ready(self) -> None:
        """What is stored here makes itself known as kinds."""
        import_module("actions.domain.action_kind")
        import_module("actions.domain.webhook_kind")
