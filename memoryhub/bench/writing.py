"""Memories acknowledged a second: a real web process, clients with sockets of their own, a durable database."""

import http.client
import json
import os
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from memoryhub.bench.hub import Hub
from memoryhub.bench.table import Row
from memoryhub.running import lifeline

LEAST = 150.0
WARMING = 5
SECONDS = 60
SERVER = """
import socket, sys, uvicorn
from memoryhub.running import lifeline
lifeline.hold_on()
config = uvicorn.Config(sys.argv[1], http="httptools", log_config=None, access_log=False)
uvicorn.Server(config).run(sockets=[socket.socket(fileno=int(sys.argv[2]))])
"""


@dataclass(frozen=True)
class Writing:
    name: str
    application: str
    path: str
    body: Callable[[str], dict[str, Any]]
    headers: dict[str, str]
    at_least: float | None = None


def measure(hub: Hub, clients: int, each: int) -> list[Row]:
    bound, remembered = (rate(way, clients, each) for way in ways(hub))
    name = f"MCP, remember, {clients} clients"
    return [
        Row(f"bare route, one insert, {clients} clients", bound, "/s", 1.0),
        Row(name, remembered, "/s", remembered / bound, at_least=LEAST),
    ]


def ways(hub: Hub) -> list[Writing]:
    def inserted(text: str) -> dict[str, Any]:
        return {"actor": hub.key, "text": text}

    def remembered(text: str) -> dict[str, Any]:
        params = {"name": "remember", "arguments": {"text": text, "tags": ["bench"]}}
        return {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}

    key = {"authorization": f"Bearer {hub.key}"}
    return [
        Writing("bare", "memoryhub.bench.bare:application", "/write", inserted, {}),
        Writing("remember", "memoryhub.asgi:application", "/mcp", remembered, key),
    ]


def rate(way: Writing, clients: int, each: int) -> float:
    """Acknowledged writes a second."""
    with web_process(way.application) as port, ThreadPoolExecutor(clients) as pool:
        connections = [http.client.HTTPConnection("localhost", port, timeout=SECONDS) for _ in range(clients)]
        write_all(pool, way, connections, "warming up", WARMING)
        before = time.perf_counter()
        write_all(pool, way, connections, "measured", each)
        return clients * each / (time.perf_counter() - before)


def write_all(
    pool: ThreadPoolExecutor,
    way: Writing,
    connections: list[http.client.HTTPConnection],
    phase: str,
    each: int,
) -> None:
    work = [
        pool.submit(write, way, connection, f"{phase}: client {number}", each)
        for number, connection in enumerate(connections)
    ]
    for done in work:
        done.result()


def write(way: Writing, connection: http.client.HTTPConnection, who: str, times: int) -> None:
    headers = {"content-type": "application/json", **way.headers}
    for number in range(times):
        body = json.dumps(way.body(f"The {who} remembers fact number {number} about the harbour."))
        connection.request("POST", way.path, body, headers)
        response = connection.getresponse()
        answer = response.read()
        if response.status != 200 or b'"isError":true' in answer:
            raise RuntimeError(f"{way.name} failed: {response.status} {answer!r}")


@contextmanager
def web_process(application: str) -> Iterator[int]:
    """One web worker on a port of the loopback. It ends with this process, however that ends."""
    reader, writer = os.pipe()
    with socket.create_server(("127.0.0.1", 0)) as listener:
        arguments = [sys.executable, "-c", SERVER, application, str(listener.fileno())]
        environment = os.environ | {lifeline.VARIABLE: str(reader)}
        process = subprocess.Popen(
            arguments, env=environment, pass_fds=[listener.fileno(), reader], stdin=subprocess.DEVNULL
        )
        os.close(reader)
        try:
            yield listener.getsockname()[1]
        finally:
            process.terminate()
            process.wait()
            os.close(writer)
