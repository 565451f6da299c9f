"""The Celery application. Its messages only wake workers; the queue is a table (accounts.domain.jobs)."""

import os
from typing import Any

from celery import Celery
from celery.signals import setup_logging, worker_ready

import memoryhub.running.folder_broker  # noqa: F401 (makes folder:// known)
from memoryhub.common.garbage import settle_in

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "memoryhub.settings")

SETTINGS = {"obj": "django.conf:settings", "namespace": "CELERY"}

app = Celery("memoryhub")
app.set_default()
app.config_from_object(**SETTINGS)
app.autodiscover_tasks()


def clock() -> Celery:
    """The same for beat alone, which sends the names of tasks: it loads no app and opens no database."""
    bare = Celery("memoryhub", fixups=[], set_as_current=True)
    bare.config_from_object(**SETTINGS)
    return bare


@setup_logging.connect  # type: ignore[untyped-decorator]
def keep_our_logging(**kwargs: Any) -> None:
    """Being connected is enough: Celery then leaves logging as the settings made it."""


@worker_ready.connect  # type: ignore[untyped-decorator]
def keep_what_is_loaded(**kwargs: Any) -> None:
    settle_in()
