"""Where one signs in at the four vendors: codes, tokens, and each one's own way with them.

What a person does there is one step: whoever opens the address agrees, to what `allows` leaves of what was asked.
"""

import base64
import hashlib
import secrets
import time
from collections import deque
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qs, urlencode

from tests.vendors.faults import Fault
from tests.vendors.server import Asked, No, Vendor

CLIENT, SECRET = "hub.123", "the-secret-of-the-hub"
GOOGLE = "https://www.googleapis.com/auth/"


@dataclass
class Authority:
    """`tried` are the requests for tokens. `access` has each token's end and scopes, `refreshes` those still taken."""

    vendor: str
    callback: str = ""
    lasts: float | None = None
    rotates: bool = True
    refreshable: bool = True
    pkce: bool = False
    allows: set[str] | None = None
    client: tuple[str, str] = (CLIENT, SECRET)
    codes: dict[str, dict[str, str]] = field(default_factory=dict)
    access: dict[str, tuple[float, tuple[str, ...]]] = field(default_factory=dict)
    refreshes: dict[str, tuple[str, ...]] = field(default_factory=dict)
    tried: list[dict[str, str]] = field(default_factory=list)
    ended: list[str] = field(default_factory=list)
    faults: deque[Fault] = field(default_factory=deque)
    says: deque[Any] = field(default_factory=deque)
    """In place of an answer for tokens, whatever was asked."""

    def takes(self, token: str) -> bool:
        return self.access.get(token, (0.0, ()))[0] > time.time()

    def scopes_of(self, token: str) -> tuple[str, ...]:
        return self.access[token][1] if self.takes(token) else ()

    def agree(self, asked: Asked) -> str:
        """Where the browser is sent once its person has agreed; the vendor shows an error of its own otherwise."""
        given = {name: values[0] for name, values in asked.query.items()}
        if given.get("client_id") != self.client[0] or given.get("redirect_uri") != self.callback:
            raise No(400, error="redirect_uri_mismatch")
        if self.pkce and given.get("code_challenge_method") != "S256":
            raise No(400, error="invalid_request")
        code = secrets.token_urlsafe(12)
        self.codes[code] = given
        return f"{self.callback}?{urlencode({'state': given['state'], 'code': code, **self.adds()})}"

    def adds(self) -> dict[str, str]:
        """To the address that a browser is sent back to."""
        return {}

    def give(self, asked: Asked) -> dict[str, Any]:
        """Tokens, for a code or a refresh token."""
        sent = self.read(asked)
        self.tried.append(sent)
        if self.says:
            return self.says.popleft()
        if self.client != self.shown(asked, sent):
            raise self.no("invalid_client")
        if sent.get("grant_type", "authorization_code") == "refresh_token":
            return self.refreshed(sent)
        given = self.codes.pop(sent.get("code", ""), None)
        if given is None or sent.get("redirect_uri", given["redirect_uri"]) != given["redirect_uri"]:
            raise self.no("invalid_grant")
        if self.pkce and challenge(sent.get("code_verifier", "")) != given["code_challenge"]:
            raise self.no("invalid_grant")
        asked_for = tuple(filter(None, given.get("scope", "").replace(",", " ").split()))
        return self.tokens(tuple(s for s in asked_for if self.allows is None or s in self.allows), given)

    def refreshed(self, sent: dict[str, str]) -> dict[str, Any]:
        scopes = self.refreshes.get(sent["refresh_token"])
        if scopes is None:
            raise self.no("invalid_refresh")
        if not self.rotates:
            return self.tokens(scopes, {}, refresh=False)
        del self.refreshes[sent["refresh_token"]]
        self.forget_former()
        return self.tokens(scopes, {})

    def forget_former(self) -> None:
        """GitHub: the access token before no longer works."""

    def tokens(
        self, scopes: tuple[str, ...], given: dict[str, str], *, refresh: bool = True
    ) -> dict[str, Any]:
        access = f"access-{secrets.token_urlsafe(12)}"
        self.access[access] = (time.time() + (self.lasts or 10**9), scopes)
        answer: dict[str, Any] = {"access_token": access}
        if self.lasts:
            answer["expires_in"] = int(self.lasts)
        if refresh and self.refreshable:
            answer["refresh_token"] = f"refresh-{secrets.token_urlsafe(12)}"
            self.refreshes[answer["refresh_token"]] = scopes
        return answer | self.described(scopes)

    def described(self, scopes: tuple[str, ...]) -> dict[str, Any]:
        raise NotImplementedError

    def read(self, asked: Asked) -> dict[str, str]:
        return {name: values[0] for name, values in parse_qs(asked.content.decode()).items()}

    def shown(self, asked: Asked, sent: dict[str, str]) -> tuple[str, str]:
        """Who the client says it is; by Basic or in the form."""
        return basic(asked) or (sent.get("client_id", ""), sent.get("client_secret", ""))

    def no(self, why: str) -> No:
        return No(400, error="invalid_grant" if why == "invalid_refresh" else why)

    def expire(self) -> None:
        """Every access token is over, whatever its end was."""
        self.access = {token: (0.0, scopes) for token, (_, scopes) in self.access.items()}

    def end(self, token: str) -> None:
        """All that was granted."""
        self.ended.append(token)
        self.access.clear()
        self.refreshes.clear()


class GoogleAuthority(Authority):
    def adds(self) -> dict[str, str]:
        return {"iss": "https://accounts.google.com", "scope": "openid"}

    def tokens(
        self, scopes: tuple[str, ...], given: dict[str, str], *, refresh: bool = True
    ) -> dict[str, Any]:
        """A refresh token only for who asks for it, and is asked again."""
        offline = (given.get("access_type"), given.get("prompt")) == ("offline", "consent")
        return super().tokens(scopes, given, refresh=refresh and offline)

    def described(self, scopes: tuple[str, ...]) -> dict[str, Any]:
        return {"token_type": "Bearer", "scope": " ".join(scopes), "id_token": "not.read.here"}


class SlackAuthority(Authority):
    def described(self, scopes: tuple[str, ...]) -> dict[str, Any]:
        """The v2 shape: the bot's token on top, the person's (none is asked for) under `authed_user`."""
        return {
            "ok": True,
            "token_type": "bot",
            "scope": ",".join(scopes),
            "bot_user_id": "U0000BOT",
            "app_id": "A1",
            "team": {"id": "T1", "name": "Acme"},
            "enterprise": None,
            "authed_user": {"id": "U1"},
            "is_enterprise_install": False,
        }

    def no(self, why: str) -> No:
        words = {"invalid_client": "bad_client_secret", "invalid_grant": "invalid_code"}
        return No(200, ok=False, error=words.get(why, "invalid_refresh_token"))


class GithubAuthority(Authority):
    def read(self, asked: Asked) -> dict[str, str]:
        """A form, or JSON."""
        if asked.headers.get("content-type", "").startswith("application/json"):
            return {name: str(value) for name, value in asked.json.items()}
        return super().read(asked)

    def described(self, scopes: tuple[str, ...]) -> dict[str, Any]:
        """Those of a GitHub App have no scopes."""
        more = {"refresh_token_expires_in": 15_897_600} if self.refreshable else {}
        return {"token_type": "bearer", "scope": ",".join(scopes), **more}

    def forget_former(self) -> None:
        self.access.clear()

    def no(self, why: str) -> No:
        words = {"invalid_client": "incorrect_client_credentials", "invalid_grant": "bad_verification_code"}
        return No(
            200,
            error=words.get(why, "bad_refresh_token"),
            error_description="The code passed is incorrect or expired.",
            error_uri="https://docs.github.com/",
        )


class NotionAuthority(Authority):
    def read(self, asked: Asked) -> dict[str, str]:
        return {name: str(value) for name, value in asked.json.items()}

    def shown(self, asked: Asked, sent: dict[str, str]) -> tuple[str, str]:
        """By Basic alone."""
        return basic(asked) or ("", "")

    def agree(self, asked: Asked) -> str:
        if asked.one("owner") != "user":
            raise No(400, error="invalid_request")
        return super().agree(asked)

    def described(self, scopes: tuple[str, ...]) -> dict[str, Any]:
        return {
            "token_type": "bearer",
            "bot_id": "bot-1",
            "workspace_id": "ws-1",
            "workspace_name": "Acme",
            "workspace_icon": None,
            "owner": {"type": "user", "user": {"object": "user", "id": "person-1"}},
            "duplicated_template_id": None,
            "request_id": "r-1",
        }


AUTHORITIES: dict[str, type[Authority]] = {
    "slack": SlackAuthority, "google": GoogleAuthority, "github": GithubAuthority, "notion": NotionAuthority,
}  # fmt: skip
WAYS: dict[str, dict[str, Any]] = {
    "slack": {"lasts": 43_200.0},
    "google": {"lasts": 3_599.0, "rotates": False, "pkce": True},
    "github": {"lasts": 28_800.0, "pkce": True},
    "notion": {},
}


def make_authorities(home: str) -> dict[str, Authority]:
    """As each vendor is by itself; those at `home` come back to its address."""
    return {
        vendor: kind(vendor, f"{home}/connections/callback/{vendor}/", **WAYS[vendor])
        for vendor, kind in AUTHORITIES.items()
    }


def challenge(verifier: str) -> str:
    return base64.urlsafe_b64encode(hashlib.sha256(verifier.encode()).digest()).decode().rstrip("=")


def basic(asked: Asked) -> tuple[str, str] | None:
    kind, _, shown = asked.headers.get("authorization", "").partition(" ")
    if kind.lower() != "basic":
        return None
    name, _, secret = base64.b64decode(shown).decode().partition(":")
    return name, secret


@dataclass
class Door(Vendor):
    """A service that is there for signing in alone: Google's two, and GitHub's pages."""

    def makes(self, asked: Asked) -> bool:
        return False

    def answer(self, asked: Asked) -> tuple[int, Any]:
        with self.lock:
            self.asked.append(asked)
            return self.at_the_door(asked) or (404, {"error": "not_found"})
