from django.apps import AppConfig


class MemoryHubConfig(AppConfig):
    name = "memoryhub"
    verbose_name = "Memory Hub"

    def ready(self) -> None:
        """Whatever enqueues work finds our Celery application, in every thread."""
        import memoryhub.celery  # noqa: F401
