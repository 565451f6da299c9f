"""The five services, as far as we use them. What differs from the real ones is told in docs/vendors.md."""

import base64
import re
import uuid
from dataclasses import dataclass, field
from email import message_from_bytes, policy
from typing import Any
from urllib.parse import urlencode

from tests.vendors.authorities import GOOGLE, Authority, Door, basic
from tests.vendors.server import GIVE, Asked, No, Vendor

EMAIL = f"{GOOGLE}userinfo.email"


@dataclass
class Slack(Vendor):
    service: str = "slack"
    channels: dict[str, str] = field(
        default_factory=lambda: {"C0GENERAL1": "general", "C0LAUNCH01": "launch"}
    )
    people: dict[str, dict[str, Any]] = field(default_factory=dict)
    """By their ids, each with an `email`; and whether they are `deleted` or a bot."""
    open: dict[str, str] = field(default_factory=dict)
    """Conversations with one person: by their ids, with whom."""
    forbidden: set[str] = field(default_factory=set)
    """Scopes that its app was not given."""
    always: dict[str, Any] = field(default_factory=dict)
    """In place of what a method answers."""

    def join(self, email: str, id: str = "", **more: Any) -> str:
        """Somebody comes to the workspace."""
        id = id or f"U0PERSON{len(self.people) + 1}"
        self.people[id] = {"email": email, **more}
        return id

    def said_to(self, user: str) -> list[str]:
        return [message["text"] for message in self.made if self.open.get(message["channel"]) == user]

    def makes(self, asked: Asked) -> bool:
        return asked.path == "/api/chat.postMessage"

    def signed_out(self) -> No:
        return No(200, ok=False, error="token_revoked")

    def route(self, asked: Asked) -> tuple[int, Any]:
        name = asked.path.removeprefix("/api/").replace(".", "_")
        if name in self.always:
            return 200, self.always[name]
        return 200, {"ok": True, **getattr(self, name)(asked)}

    def refusal(self, no: No) -> tuple[int, Any]:
        return 200, {"ok": False, "error": no.body.get("error") or "invalid_arguments", **no.body}

    def auth_revoke(self, asked: Asked) -> dict[str, Any]:
        if self.authority:
            self.authority.end(asked.token)
        return {"revoked": True}

    def auth_test(self, asked: Asked) -> dict[str, Any]:
        return {
            "team_id": "T1",
            "team": "Acme",
            "user_id": "U0000BOT",
            "user": "memoryhub",
            "url": "https://x/",
        }

    def conversations_list(self, asked: Asked) -> dict[str, Any]:
        """A channel a page, so that paging is tried."""
        ids = sorted(self.channels)
        at = int(asked.one("cursor") or 0)
        following = str(at + 1) if at + 1 < len(ids) else ""
        page = [{"id": id, "name": self.channels[id]} for id in ids[at : at + 1]]
        return {"channels": page, "response_metadata": {"next_cursor": following}}

    def conversations_info(self, asked: Asked) -> dict[str, Any]:
        return {
            "channel": {"id": self.known(asked.one("channel")), "name": self.channels[asked.one("channel")]}
        }

    def users_lookupByEmail(self, asked: Asked) -> dict[str, Any]:
        self.needs("users:read.email")
        given = self.given(asked)
        if set(given) != {"email"}:
            raise No(200, error="invalid_arguments")
        for id, person in self.people.items():
            if person["email"].lower() == given["email"].lower():
                more = {"deleted": person.get("deleted", False), "is_bot": person.get("is_bot", False)}
                return {"user": {"id": id, "team_id": "T1", **more, "profile": {"email": person["email"]}}}
        raise No(200, error="users_not_found")

    def conversations_open(self, asked: Asked) -> dict[str, Any]:
        """One for each person, however often it is opened."""
        self.needs("im:write")
        given = self.given(asked)
        if set(given) != {"users"}:
            raise No(200, error="users_list_not_supplied")
        if given["users"] not in self.people:
            raise No(200, error="user_not_found")
        if self.people[given["users"]].get("deleted"):
            raise No(200, error="user_disabled")
        if given["users"] not in self.open.values():
            self.open[f"D0DIRECT{len(self.open) + 1}"] = given["users"]
        return {"channel": {"id": next(id for id, user in self.open.items() if user == given["users"])}}

    def given(self, asked: Asked) -> dict[str, Any]:
        """In the address, as JSON, or as a form, as the SDK sends everything."""
        if asked.method == "GET":
            return {name: values[0] for name, values in asked.query.items()}
        return asked.json if asked.content.startswith(b"{") else asked.form

    def needs(self, scope: str) -> None:
        if scope in self.forbidden:
            raise No(200, error="missing_scope", needed=scope, provided="chat:write")

    def conversations_history(self, asked: Asked) -> dict[str, Any]:
        found = [m for m in self.made if m["channel"] == asked.one("channel") and "thread_ts" not in m]
        return {"messages": [self.told(m, asked) for m in reversed(found)], "has_more": False}

    def conversations_replies(self, asked: Asked) -> dict[str, Any]:
        found = [m for m in self.made if m.get("thread_ts") == asked.one("ts")]
        return {"messages": [self.told(m, asked) for m in found], "has_more": False}

    def chat_postMessage(self, asked: Asked) -> dict[str, Any]:
        body = asked.json
        self.check(body)
        self.needs("chat:write")
        if len(body["text"]) > 40_000:
            raise No(200, error="msg_too_long")
        message = {**body, "channel": self.known(body["channel"]), "ts": f"1700000000.{len(self.made):06}"}
        self.made.append(message)
        return {"channel": message["channel"], "ts": message["ts"], "message": {"text": body["text"]}}

    def known(self, channel: str) -> str:
        if channel not in self.channels and channel not in self.open:
            raise No(200, error="channel_not_found")
        return channel

    def told(self, message: dict[str, Any], asked: Asked) -> dict[str, Any]:
        """Metadata only to who asks for it."""
        hidden = set() if asked.one("include_all_metadata") == "true" else {"metadata"}
        return {name: value for name, value in message.items() if name not in hidden | {"channel"}}


@dataclass
class Gmail(Vendor):
    service: str = "gmail"
    threads: dict[str, list[dict[str, str]]] = field(
        default_factory=lambda: {
            "18c0ffee": [
                {
                    "From": "Ann Example <ann@example.org>",
                    "Subject": "Contract",
                    "Message-ID": "<m1@mail.example>",
                    "References": "<m0@mail.example>",
                }
            ]
        }
    )

    def makes(self, asked: Asked) -> bool:
        return asked.path.endswith("/messages/send")

    def route(self, asked: Asked) -> tuple[int, Any]:
        path = asked.path.removeprefix("/gmail/v1/users/me/")
        if path == "profile":
            return 200, {"emailAddress": "hub@acme.example", "messagesTotal": 1}
        if path == "messages/send":
            return 200, self.send(asked.json)
        if thread := re.fullmatch(r"threads/([0-9a-f]+)", path):
            return 200, self.thread(thread[1], asked.query.get("metadataHeaders", []))
        raise No(404, error={"code": 404})

    def send(self, body: dict[str, Any]) -> dict[str, Any]:
        self.check(body)
        letter = message_from_bytes(base64.urlsafe_b64decode(body["raw"]), policy=policy.default)
        if not letter["To"] or body["threadId"] not in self.threads:
            raise No(400, error={"code": 400, "message": "Invalid To header"})
        if letter["Subject"].removeprefix("Re: ") != self.threads[body["threadId"]][0]["Subject"]:
            raise No(400, error={"code": 400, "message": "other subject: it would start a thread of its own"})
        headers = {name: str(value) for name, value in letter.items()}
        self.made.append({**headers, "thread": body["threadId"], "body": letter.get_payload(decode=True)})
        self.threads[body["threadId"]].append(headers)
        return {"id": f"msg{len(self.made)}", "threadId": body["threadId"], "labelIds": ["SENT"]}

    def thread(self, id: str, wanted: list[str]) -> dict[str, Any]:
        if id not in self.threads:
            raise No(404, error={"code": 404})
        named = {name.lower() for name in wanted}
        messages = [
            {
                "id": f"msg{at}",
                "threadId": id,
                "payload": {
                    "headers": [{"name": n, "value": v} for n, v in message.items() if n.lower() in named]
                },
            }
            for at, message in enumerate(self.threads[id])
        ]
        return {"id": id, "messages": messages}


@dataclass
class Calendar(Vendor):
    service: str = "calendar"

    def makes(self, asked: Asked) -> bool:
        return asked.method == "POST"

    def route(self, asked: Asked) -> tuple[int, Any]:
        if asked.path == "/oauth2/v2/userinfo":
            return 200, self.whose(asked)
        if asked.path == "/calendar/v3/calendars/primary":
            return 200, {"id": "hub@acme.example", "summary": "Hub"}
        place = re.fullmatch(r"/calendar/v3/calendars/([^/]+)/events(?:/([^/]+))?", asked.path)
        if place and asked.method == "POST" and not place[2]:
            return 200, self.insert(asked)
        if place and place[2]:
            return 200, self.get(place[2])
        raise No(404, error={"code": 404})

    def whose(self, asked: Asked) -> dict[str, Any]:
        """Only with the scope for it."""
        if self.authority is None or EMAIL not in self.authority.scopes_of(asked.token):
            raise No(401, error={"code": 401, "status": "UNAUTHENTICATED"})
        return {"id": "1098", "email": "hub@acme.example", "verified_email": True}

    def insert(self, asked: Asked) -> dict[str, Any]:
        body = asked.json
        self.check(body)
        if not re.fullmatch(r"[0-9a-v]{5,1024}", body["id"]) or set(asked.query) - {"sendUpdates", "alt"}:
            raise No(400, error={"code": 400, "message": "Invalid resource id value."})
        if any(event["id"] == body["id"] for event in self.made):
            raise No(409, error={"code": 409, "message": "The requested identifier already exists."})
        self.made.append({**body, "sendUpdates": asked.one("sendUpdates")})
        return self.get(body["id"])

    def get(self, id: str) -> dict[str, Any]:
        found = next((event for event in self.made if event["id"] == id), None)
        if found is None:
            raise No(404, error={"code": 404})
        return {**found, "kind": "calendar#event", "htmlLink": f"https://calendar.example/{id}"}


@dataclass
class Github(Vendor):
    service: str = "github"
    user: dict[str, Any] = field(default_factory=lambda: {"id": 583231, "login": "octocat"})

    def makes(self, asked: Asked) -> bool:
        return asked.method == "POST"

    def route(self, asked: Asked) -> tuple[int, Any]:
        if "user-agent" not in asked.headers:
            raise No(403, message="Request forbidden by administrative rules.")
        if asked.path == "/user":
            return 200, self.user
        if asked.path == "/repos/octo/hello/issues":
            return (201, self.make(asked.json)) if asked.method == "POST" else (200, self.latest(asked))
        if asked.path == "/repos/octo/hello":
            return 200, {"id": 1, "full_name": "octo/hello", "url": "http://127.0.0.1/repos/octo/hello"}
        raise No(404, message="Not Found")

    def end(self, authority: Authority, asked: Asked) -> tuple[int, Any]:
        """With a token that is taken still, or there is no such grant."""
        token = asked.json["access_token"]
        if basic(asked) != authority.client or not authority.takes(token):
            raise No(404, message="Not Found")
        authority.end(token)
        return 204, b""

    def make(self, body: dict[str, Any]) -> dict[str, Any]:
        self.check(body)
        number = len(self.made) + 1
        page = f"https://github.example/octo/hello/issues/{number}"
        self.made.append(
            {**body, "number": number, "html_url": page, "url": f"http://127.0.0.1/issues/{number}"}
        )
        return self.made[-1]

    def latest(self, asked: Asked) -> list[dict[str, Any]]:
        return self.made[::-1][: int(asked.one("per_page", "30"))]


@dataclass
class Notion(Vendor):
    service: str = "notion"
    parents: dict[str, str] = field(
        default_factory=lambda: {str(uuid.UUID("a" * 32)): "page", str(uuid.UUID("d" * 32)): "database"}
    )

    def makes(self, asked: Asked) -> bool:
        return asked.path == "/v1/pages"

    def route(self, asked: Asked) -> tuple[int, Any]:
        if not asked.headers.get("notion-version"):
            raise No(400, object="error", code="missing_version")
        match asked.path.split("/")[2:]:
            case ["users", "me"]:
                return 200, {
                    "object": "user",
                    "id": "bot-1",
                    "type": "bot",
                    "bot": {"workspace_name": "Acme"},
                }
            case ["pages"]:
                return 200, self.make(asked.json)
            case ["pages" | "databases" as kind, id]:
                return 200, self.parent(kind.removesuffix("s"), id)
            case ["search"]:
                return 200, self.search(asked.json)
            case ["blocks", id, "children"]:
                return 200, {"object": "list", "results": self.page(id)["children"], "has_more": False}
        raise No(404, object="error", code="object_not_found")

    def end(self, authority: Authority, asked: Asked) -> tuple[int, Any]:
        if basic(asked) != authority.client:
            raise No(401, error="invalid_client")
        authority.end(asked.json["token"])
        return 200, {"request_id": "r-2"}

    def parent(self, kind: str, id: str) -> dict[str, Any]:
        if self.parents.get(id) != kind:
            raise No(404, object="error", code="object_not_found")
        return {"object": kind, "id": id}

    def make(self, body: dict[str, Any]) -> dict[str, Any]:
        self.check(body)
        [(kind, parent)] = ((k.removesuffix("_id"), v) for k, v in body["parent"].items() if k != "type")
        self.parent(kind, parent)
        texts = [run["text"]["content"] for block in body["children"] for run in runs(block)]
        if any(len(text.encode("utf-16-le")) > 4000 for text in texts):
            raise No(400, object="error", code="validation_error")
        self.made.append({**body, "id": str(uuid.uuid4()), "object": "page"})
        return {"object": "page", "id": self.made[-1]["id"], "url": "https://notion.example/p"}

    def search(self, body: dict[str, Any]) -> dict[str, Any]:
        titles = [(p, p["properties"]["title"]["title"][0]["text"]["content"]) for p in self.made]
        found = [{"object": "page", "id": p["id"]} for p, title in titles[::-1] if body["query"] in title]
        return {"object": "list", "results": found[: body["page_size"]], "has_more": False}

    def page(self, id: str) -> dict[str, Any]:
        found = next((page for page in self.made if page["id"] == id), None)
        if found is None:
            raise No(404, object="error", code="object_not_found")
        return found


def runs(block: dict[str, Any]) -> list[dict[str, Any]]:
    held: dict[str, Any] = block[block["type"]]
    return list(held.get("rich_text", []))


@dataclass
class GoogleDoor(Door):
    service: str = "google_oauth"

    def end(self, authority: Authority, asked: Asked) -> tuple[int, Any]:
        token = authority.read(asked).get("token", "")
        if token not in authority.refreshes and not authority.takes(token):
            raise No(400, error="invalid_token")
        authority.end(token)
        return 200, {}


@dataclass
class GithubDoor(Door):
    service: str = "github_web"

    def at_the_door(self, asked: Asked) -> tuple[int, Any] | None:
        """A form, unless JSON is asked for."""
        answered = super().at_the_door(asked)
        if answered and asked.path in GIVE and asked.headers.get("accept") != "application/json":
            return answered[0], urlencode(answered[1]).encode()
        return answered


FAKES: dict[str, type[Vendor]] = {
    "slack": Slack, "gmail": Gmail, "calendar": Calendar, "github": Github, "notion": Notion,
    "google_accounts": GoogleDoor, "google_oauth": GoogleDoor, "github_web": GithubDoor,
}  # fmt: skip
VENDOR_OF = {
    "gmail": "google", "calendar": "google", "google_accounts": "google", "google_oauth": "google",
    "github_web": "github",
}  # fmt: skip
