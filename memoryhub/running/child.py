"""`python -m memoryhub.running.child web|worker|beat|embedder`: a process that `memoryhub up` keeps running."""

from __future__ import annotations

import os
import socket
import sys
import warnings

from memoryhub.common.logs import be_careful
from memoryhub.running import lifeline

SOCKETS = "MEMORYHUB_SOCKETS"
"""Descriptors of the listening sockets. `up` holds them too: callers wait while the web process is replaced."""


def web() -> None:
    import uvicorn

    warnings.filterwarnings(
        "ignore", message="StreamingHttpResponse must consume synchronous iterators"
    )  # files
    config = uvicorn.Config(
        "memoryhub.asgi:application",
        http="httptools",
        log_config=None,
        access_log=False,
        server_header=False,
        proxy_headers=False,
        timeout_graceful_shutdown=5,
    )
    descriptors = os.environ.pop(SOCKETS).split(",")
    uvicorn.Server(config).run(sockets=[socket.socket(fileno=int(fd)) for fd in descriptors])


def worker() -> None:
    from celery.platforms import SecurityWarning

    warnings.simplefilter("ignore", SecurityWarning)  # messages are JSON; as root it works too
    from memoryhub.celery import app

    app.start(["--quiet", "worker", "--without-gossip", "--without-mingle", "--without-heartbeat"])


def beat() -> None:
    from django.conf import settings
    from django.utils.log import configure_logging

    from memoryhub.celery import clock

    configure_logging(settings.LOGGING_CONFIG, settings.LOGGING)
    clock().start(["--quiet", "beat", "--pidfile="])


def embedder() -> None:
    from memoryhub.running.embedder import child

    child()


def main() -> None:
    be_careful()
    lifeline.hold_on()
    {"web": web, "worker": worker, "beat": beat, "embedder": embedder}[sys.argv[1]]()


if __name__ == "__main__":
    main()
