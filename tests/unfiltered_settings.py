"""Settings of a real process that has lost every filter by account."""

import atexit
import os
from pathlib import Path

from tests.live_settings import *  # noqa: F403
from tests.unfiltered import take_filters_out

taken = take_filters_out()

if told := os.environ.get("FILTERS_TAKEN"):
    atexit.register(lambda: Path(told).write_text(str(taken[0])))
