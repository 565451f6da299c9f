"""A hosted client and its person, as tests play them: it registers, asks, and comes back for its tokens."""

import base64
import hashlib
import json
import time
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit

from django.http import HttpResponse
from django.test import Client

from accounts.actor import Actor
from tests.pages import freshly_signed_in

HERE = "http://testserver"
MCP = f"{HERE}/mcp"
CALLBACK = "https://client.example/callback"
VERIFIER = "a-verifier-of-at-least-forty-three-characters-long"
CHALLENGE = base64.urlsafe_b64encode(hashlib.sha256(VERIFIER.encode()).digest()).decode().rstrip("=")


def post_json(path: str, body: object, **headers: str) -> HttpResponse:
    sent = body if isinstance(body, str | bytes) else json.dumps(body)
    answer: HttpResponse = Client().post(path, sent, content_type="application/json", headers=headers)
    return answer


def register(**metadata: Any) -> HttpResponse:
    public = {"redirect_uris": [CALLBACK], "client_name": "Visitor", "token_endpoint_auth_method": "none"}
    return post_json("/oauth/register", {**public, **metadata})


@dataclass
class Visitor:
    """A client that has registered, and what it asks for."""

    id: str
    redirect: str = CALLBACK
    secret: str = ""
    asking: dict[str, str] = field(default_factory=dict)

    def question(self, **changes: Any) -> str:
        """The address to which it sends its person. What is None is left out, and a list is repeated."""
        asked: dict[str, Any] = {
            "response_type": "code",
            "client_id": self.id,
            "redirect_uri": self.redirect,
            "scope": "memory:read memory:write",
            "state": "s-1",
            "code_challenge": CHALLENGE,
            "code_challenge_method": "S256",
            "resource": MCP,
            **self.asking,
            **changes,
        }
        return "/oauth/authorize?" + urlencode({k: v for k, v in asked.items() if v is not None}, doseq=True)

    def exchange(self, given: str, /, **changes: Any) -> HttpResponse:
        sent = {"grant_type": "authorization_code", "code": given, "redirect_uri": self.redirect}
        return self.token(**{**sent, "code_verifier": VERIFIER, "resource": MCP, **changes})

    def refresh(self, token: str, **changes: Any) -> HttpResponse:
        return self.token(**{"grant_type": "refresh_token", "refresh_token": token, **changes})

    def token(self, **sent: Any) -> HttpResponse:
        return self.post("/oauth/token", **sent)

    def post(self, path: str, **sent: Any) -> HttpResponse:
        named = {"client_id": self.id, **({"client_secret": self.secret} if self.secret else {}), **sent}
        answer: HttpResponse = Client().post(path, {k: v for k, v in named.items() if v is not None})
        return answer


def visitor(**metadata: Any) -> Visitor:
    made = register(**metadata).json()
    return Visitor(made["client_id"], made["redirect_uris"][0], made.get("client_secret", ""))


def browser_for(person: Actor) -> Client:
    return freshly_signed_in(person, time.time())


def answer_to(browser: Client, question: str, space: object, **form: Any) -> HttpResponse:
    """The person's answer. They leave everything as the page offers it, unless told otherwise."""
    scopes = parse_qs(urlsplit(question).query).get("scope", [""])[0].split()
    sent = {"decision": "allow", "granted": scopes, "space": str(space), "only_here": "on", **form}
    answer: HttpResponse = browser.post(question, {k: v for k, v in sent.items() if v is not None})
    return answer


def returned(answer: HttpResponse) -> dict[str, str]:
    """What the client gets by its redirect."""
    assert answer.status_code == 302, answer.content.decode()
    return {name: values[0] for name, values in parse_qs(urlsplit(answer["Location"]).query).items()}


def connect(
    person: Actor,
    space: object,
    client: Visitor | None = None,
    form: dict[str, Any] | None = None,
    **asking: Any,
) -> dict[str, Any]:
    """All the way to tokens."""
    client = client or visitor()
    back = returned(answer_to(browser_for(person), client.question(**asking), space, **(form or {})))
    answer = client.exchange(back["code"], resource=asking.get("resource", MCP))
    assert answer.status_code == 200, answer.content.decode()
    tokens: dict[str, Any] = answer.json()
    return tokens


def bearer(tokens: dict[str, Any]) -> dict[str, str]:
    return {"authorization": f"Bearer {tokens['access_token']}"}
