"""Settings of a real server that has lost every filter by account."""

from tests.live_settings import *  # noqa: F403
from tests.unfiltered import take_filters_out

take_filters_out()
