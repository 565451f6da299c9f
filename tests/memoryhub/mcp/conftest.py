"""An agent that speaks to a real server, one HTTP request at a time."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import httpx2
import pytest
from django.core.management import call_command

from accounts.scopes import Role
from tests.conftest import make_key, make_person, make_team

OLDER = "2025-11-25"
NEWER = "2026-07-28"
META = {
    "io.modelcontextprotocol/protocolVersion": NEWER,
    "io.modelcontextprotocol/clientCapabilities": {},
    "io.modelcontextprotocol/clientInfo": {"name": "tests", "version": "1"},
}


@dataclass(frozen=True)
class Agent:
    http: httpx2.Client
    secret: str

    def post(self, body: Any, path: str = "/mcp", **headers: str) -> httpx2.Response:
        """Bytes and text are sent as they are, anything else as JSON. Header names with `_` for `-`."""
        content = body if isinstance(body, bytes | str) else json.dumps(body)
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        defaults = {"authorization": f"Bearer {self.secret}", "content-type": "application/json"}
        return self.http.post(path, content=content, headers=defaults | named)

    def ask(self, method: str, params: Any = None, path: str = "/mcp", **headers: str) -> dict[str, Any]:
        """The message that answers a request on the older wire."""
        message = {"jsonrpc": "2.0", "id": 1, "method": method}
        if params is not None:
            message["params"] = params
        answer: dict[str, Any] = self.post(message, path, mcp_protocol_version=OLDER, **headers).json()
        return answer

    def ask_newer(self, method: str, params: dict[str, Any], **headers: str) -> httpx2.Response:
        """The answer on the newer wire; `Mcp-Name` is filled in."""
        named = {"mcp_name": params["name"]} if "name" in params else {}
        message = {"jsonrpc": "2.0", "id": 1, "method": method, "params": {"_meta": META, **params}}
        fields = {"mcp_protocol_version": NEWER, "mcp_method": method, **named, **headers}
        return self.post(message, **fields)


@pytest.fixture(scope="module")
def agent(live_process: str, django_db_blocker: Any) -> Iterator[Agent]:
    """An agent for a whole module: for tests that leave nothing behind."""
    with django_db_blocker.unblock():
        account, space = make_team("Acme")
        _, secret = make_key(make_person(account, Role.MEMBER), space)
        with httpx2.Client(base_url=live_process, timeout=20) as http:
            yield Agent(http, secret)
        call_command("flush", interactive=False, verbosity=0, reset_sequences=False)
