"""A child that ends when its parent does, however the parent ended.

The parent keeps the writing end of a pipe and never writes. Reading ends only when the last writer is gone, so
it works on every platform, at once, and for a parent that was killed.
"""

from __future__ import annotations

import os
import signal
import threading
import time

VARIABLE = "MEMORYHUB_LIFELINE"
GRACE = 10.0


def hold_on() -> None:
    """Watch the lifeline named in the environment, if any: a polite end for this process, then a hard one."""
    descriptor = os.environ.pop(VARIABLE, "")
    if descriptor:
        threading.Thread(target=_watch, args=[int(descriptor)], name="lifeline", daemon=True).start()


def _watch(descriptor: int) -> None:
    os.read(descriptor, 1)
    os.kill(os.getpid(), signal.SIGTERM)
    time.sleep(GRACE)
    os._exit(1)
