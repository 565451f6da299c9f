"""A team of its own for each case, and its agents and people, who ask as they do: over MCP, over REST, in a browser.

Everything goes through the whole application and is committed, so that many can ask at once.
"""

import json
import re
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from secrets import token_hex
from typing import Any, TypeVar

import httpx2
from django.core.cache import cache
from django.db import connection

from accounts.actor import Actor
from accounts.models import Account
from accounts.scopes import Role
from memoryhub.common.tenancy import tenant
from spaces.domain.memories import list_held, release_memory
from spaces.domain.spaces import create_space
from spaces.models import Space
from tests.conftest import make_key, make_person, make_team
from tests.inprocess import InProcess, apart
from tests.wire import as_json, as_request

T = TypeVar("T")

PASSWORD = "correct horse battery"
OLDER = "2025-11-25"
TOKEN = re.compile(r'name="csrfmiddlewaretoken" value="(\w+)"')
STATUS = {
    "invalid_request": 400, "unauthorized": 401, "forbidden": 403, "reserved_namespace": 403, "not_found": 404,
    "conflict": 409, "invalid_transition": 409, "idempotency_conflict": 409, "precondition_failed": 409,
    "not_connected": 409, "undo_expired": 410, "payload_too_large": 413, "validation_failed": 422,
    "secret_rejected": 422, "rate_limited": 429, "quota_exceeded": 429, "internal": 500, "unavailable": 503,
}  # fmt: skip


@dataclass(frozen=True)
class Answer:
    """`status` is that of HTTP, over MCP the one that the same refusal has over REST; `body` is the JSON."""

    status: int
    body: Any

    @property
    def error(self) -> dict[str, Any]:
        found: dict[str, Any] = self.body.get("error", {})
        return found

    @property
    def code(self) -> Any:
        """Of the refusal; None where there is none."""
        return self.error.get("code")

    @property
    def fields(self) -> list[str]:
        """Those that a refusal names."""
        return list(self.error.get("details", {}).get("fields", {}))

    def __getitem__(self, name: str) -> Any:
        assert not self.error, self.body
        return self.body[name]


@dataclass(frozen=True)
class Hub:
    app: InProcess
    account: Account
    space: Space
    people: dict[str, Actor]

    @property
    def place(self) -> str:
        return f"/a/{self.account.slug}/{self.space.slug}"

    def key(self, role: str = "member", **fields: Any) -> str:
        """The secret of a new key that acts for the person with that role, with every scope."""
        return apart(lambda: make_key(self.people[role], fields.pop("space", self.space), **fields)[1])

    def actor(self, role: str = "member", **fields: Any) -> Actor:
        return apart(lambda: make_key(self.people[role], self.space, **fields)[0])

    def new_space(self, name: str, **fields: Any) -> Space:
        return self.inside(lambda: create_space(self.people["owner"], name=name, **fields))

    def inside(self, act: Callable[[], T]) -> T:
        """Runs it in the team's account, and commits."""

        def work() -> T:
            with tenant(self.account.id):
                return act()

        return apart(work)

    def release(self) -> int:
        """A person has read all that is held and lets it go. How many that were."""

        def work() -> int:
            owner = self.people["owner"].in_space(self.space.slug)
            return len([release_memory(owner, memory.id) for memory in list_held(owner).items])

        return self.inside(work)

    def rows(self, statement: str, *values: Any) -> list[tuple[Any, ...]]:
        def work() -> list[tuple[Any, ...]]:
            with connection.cursor() as cursor:
                cursor.execute(statement, values)
                return list(cursor.fetchall()) if cursor.description else []

        return self.inside(work)


def new_hub(app: InProcess) -> Hub:
    def work() -> Hub:
        account, space = make_team(f"Team {token_hex(6)}")
        return Hub(app, account, space, {str(role): make_person(account, role) for role in Role})

    return apart(work)


@dataclass(frozen=True)
class Agent:
    """Calls operations by name, over MCP or REST. `space` is the header, if any."""

    hub: Hub
    wire: str
    secret: str
    space: str = ""

    def __call__(self, name: str, /, **arguments: Any) -> Answer:
        return self.over_mcp(name, arguments) if self.wire == "mcp" else self.over_rest(name, arguments)

    def having(self, **changes: Any) -> "Agent":
        return replace(self, **changes)

    def over_rest(self, name: str, arguments: dict[str, Any]) -> Answer:
        return self.send(*as_request(name, arguments))

    def send(self, method: str, path: str, body: bytes = b"", **headers: str) -> Answer:
        answer = self.hub.app.request(method, path, content=body, headers=self.headers | headers)
        return Answer(answer.status_code, answer.json())

    def over_mcp(self, name: str, arguments: Any) -> Answer:
        said = self.say("tools/call", {"name": name, "arguments": arguments})
        if "error" in said:
            return Answer(400, said)
        text = said["result"]["content"][0]["text"]
        body = json.loads(text)
        if said["result"]["isError"]:
            return Answer(STATUS[body["error"]["code"]], body)
        assert said["result"]["structuredContent"] == body
        return Answer(200, body)

    def say(self, method: str, params: Any = None) -> dict[str, Any]:
        message = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params or {}}
        answer = self.post(as_json(message))
        found: dict[str, Any] = answer.json()
        return found

    def post(self, body: bytes, path: str = "/mcp", **headers: str) -> httpx2.Response:
        return self.hub.app.request("POST", path, content=body, headers=self.headers | headers)

    @property
    def headers(self) -> dict[str, str]:
        given = {"x-memory-hub-space": self.space} if self.space else {}
        return {"authorization": f"Bearer {self.secret}", "content-type": "application/json", **given}


class Browser:
    """A person's, signed in. Forms are sent with the token of the page that was looked at last."""

    def __init__(self, hub: Hub, role: str) -> None:
        self.hub, self.cookies, self.token = hub, dict[str, str](), ""
        cache.clear()  # it counts how often one signs in from an address
        self.get("/accounts/login/")
        login = f"{role}@{hub.account.slug}.example"
        assert self.post("/accounts/login/", login=login, password=PASSWORD).status_code == 302

    def get(self, path: str, **headers: str) -> httpx2.Response:
        return self.keep(self.hub.app.request("GET", path, headers=self.headers() | headers))

    def post(self, path: str, /, **form: Any) -> httpx2.Response:
        return self.keep(self.send(path, {"csrfmiddlewaretoken": self.token, **form}))

    def send(self, path: str, form: dict[str, Any]) -> httpx2.Response:
        """As it is, token or none."""
        return self.hub.app.request("POST", path, data=form, headers=self.headers())

    def headers(self) -> dict[str, str]:
        return {"cookie": "; ".join(f"{name}={value}" for name, value in self.cookies.items())}

    def keep(self, answer: httpx2.Response) -> httpx2.Response:
        self.cookies.update(dict(answer.cookies))
        if token := TOKEN.search(answer.text):
            self.token = token[1]
        return answer


def at_once(count: int, act: Callable[[int], T]) -> list[T]:
    with ThreadPoolExecutor(count) as pool:
        return list(pool.map(act, range(count)))
