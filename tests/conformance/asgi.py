"""The hub with the fixtures mounted. The suite sends no credential, so requests to them are given a key."""

import os

from memoryhub.asgi import Application, Receive, Scope, Send, build_application
from tests.conformance.server import fixture_server

NAME = "conformance"


def with_key(application: Application, secret: str) -> Application:
    async def keyed(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            scope = {**scope, "headers": [*scope["headers"], (b"x-api-key", secret.encode())]}
        await application(scope, receive, send)

    return keyed


application = with_key(build_application({NAME: fixture_server()}), os.environ["CONFORMANCE_KEY"])
