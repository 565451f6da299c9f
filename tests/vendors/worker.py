"""Works off the actions' lane, over and over, until it is killed: `python -m tests.vendors.worker`."""

import time

import django

from memoryhub.running import lifeline

lifeline.hold_on()
django.setup()

from actions.domain.execution import work_off  # noqa: E402

while True:
    if not work_off():
        time.sleep(0.05)
