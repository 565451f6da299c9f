"""Beat sends what the settings say, by name, and loads nothing of what it is about."""

import json
import logging
import os
import subprocess
import sys

import pytest
from django.conf import settings

from memoryhub.celery import app

BEAT = """
import json, sys
from memoryhub.celery import clock
bare = clock()
bare.finalize()
json.dump([sorted(bare.conf.beat_schedule), bare.conf.broker_url, "accounts.models" in sys.modules], sys.stdout)
"""


def test_it_has_the_schedule_and_the_broker_and_no_app() -> None:
    done = subprocess.run([sys.executable, "-c", BEAT], env=dict(os.environ), capture_output=True, check=True)
    schedule, broker, loaded = json.loads(done.stdout)
    assert schedule == sorted(settings.CELERY_BEAT_SCHEDULE)
    assert broker == settings.CELERY_BROKER_URL
    assert not loaded


def test_a_worker_knows_every_task_that_is_sent() -> None:
    app.loader.import_default_modules()
    sent = {entry["task"] for entry in settings.CELERY_BEAT_SCHEDULE.values()}
    assert sent <= set(app.tasks)


@pytest.mark.parametrize("name", ["celery.beat", "celery.worker.strategy", "celery.app.trace"])
def test_what_goes_well_every_second_is_not_logged_and_what_fails_is(name: str) -> None:
    logger = logging.getLogger(name)
    assert [logger.isEnabledFor(level) for level in (logging.INFO, logging.WARNING)] == [False, True]
