"""Works off a lane, over and over, until it is killed: `python -m tests.vendors.worker [notices]`."""

import sys
import time

import django

from memoryhub.running import lifeline

lifeline.hold_on()
django.setup()

from actions.domain.execution import work_off  # noqa: E402
from actions.domain.notices.working import work_off_notices  # noqa: E402

work = work_off_notices if "notices" in sys.argv else work_off
while True:
    if not work():
        time.sleep(0.05)
