"""A run whose outcome is known ends, whatever its threads still wait for: they are shown, and left behind."""

import faulthandler
import os
import sys
import threading
import time

import pytest

GRACE = 60.0


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session: pytest.Session, exitstatus: int) -> None:
    session.config.add_cleanup(
        lambda: threading.Thread(target=_end, args=[int(exitstatus)], daemon=True).start()
    )


def _end(status: int) -> None:
    time.sleep(GRACE)
    sys.__stderr__.write(f"Threads kept this process from ending for {GRACE:.0f} s:\n")  # type: ignore[union-attr]
    faulthandler.dump_traceback(sys.__stderr__, all_threads=True)
    os._exit(status)
