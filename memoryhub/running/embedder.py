"""The process that holds the embedding model. It needs no database and no settings but its own."""

from __future__ import annotations

import logging
import os
import socket
from pathlib import Path

from memoryhub.common.env import envint, envstr
from memoryhub.common.logs import be_careful
from memoryhub.running.errors import SetupError
from memoryhub.running.instance import find_data_dir
from spaces.embedding.engine import engines
from spaces.embedding.server import build_server

SOCKET = "EMBEDDER_SOCKET"
LAZY = "EMBEDDER_LAZY"
BACKLOG = 256


def child() -> None:
    """As `up` runs it: behind a socket that its user alone may connect to."""
    serve([listen_privately(Path(os.environ[SOCKET]))], lazy=bool(envstr(LAZY)))


def serve(
    listeners: list[socket.socket], *, lazy: bool = False, data_dir: Path | None = None, api_key: str = ""
) -> None:
    """Answer at once; the model is built or loaded meanwhile, or, if `lazy`, when it is first asked for."""
    import uvicorn

    _log_progress()
    weights = envstr("EMBEDDER_WEIGHTS")
    models = engines(
        envstr("EMBEDDING_MODEL"),
        find_data_dir(data_dir) / "models",
        _threads(),
        weights=Path(weights) if weights else None,
    )
    if not lazy:
        models[0].start()
    config = uvicorn.Config(
        build_server(models, api_key), log_config=None, access_log=False, timeout_graceful_shutdown=2
    )
    uvicorn.Server(config).run(sockets=listeners)


def _threads() -> int:
    """As many texts at once as there are processors for this process."""
    usable = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    return envint("EMBEDDER_THREADS", usable or 1)


def _log_progress() -> None:
    logging.basicConfig(
        level=envstr("LOG_LEVEL", "INFO"), format="%(asctime)s %(levelname)s %(name)s %(message)s"
    )
    logging.getLogger("spaces.embedding").setLevel(logging.INFO)
    be_careful()


def listen_privately(path: Path) -> socket.socket:
    """Listen at a path, open to this user alone. What a killed process left there is cleared away."""
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    if _answers(path):
        raise SetupError(f"Another embedder answers at {path}.")
    path.unlink(missing_ok=True)
    listener = socket.socket(socket.AF_UNIX)
    before = os.umask(0o177)
    try:
        listener.bind(str(path))
    finally:
        os.umask(before)
    listener.listen(BACKLOG)
    return listener


def _answers(path: Path) -> bool:
    with socket.socket(socket.AF_UNIX) as probe:
        try:
            probe.connect(str(path))
        except OSError:
            return False
    return True
