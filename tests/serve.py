"""Serves an ASGI application on a socket that listens already: `python -m tests.serve APPLICATION FD`."""

import socket
import sys

import uvicorn

from memoryhub.running import lifeline

lifeline.hold_on()
application, descriptor = sys.argv[1:]
config = uvicorn.Config(application, log_level="warning", timeout_graceful_shutdown=1)
uvicorn.Server(config).run(sockets=[socket.socket(fileno=int(descriptor))])
