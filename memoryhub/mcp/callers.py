"""Who calls: a credential becomes an actor, or a challenge that says where to get one."""

from collections.abc import Iterable, Mapping
from functools import cached_property
from typing import NoReturn

from django.conf import settings
from starlette.types import Message, Send

from accounts.actor import Actor
from accounts.domain.credentials import authenticate
from memoryhub.common.errors import RateLimited, Unauthorized
from memoryhub.common.faults import refusal_for
from memoryhub.common.threads import in_db_thread
from memoryhub.mcp.refusals import refuse_for
from memoryhub.operations.challenges import way_further, way_in


class Caller:
    """The sender of one request. Its credential is looked up anew for each of them: a revoked key, or a member
    who was removed, is out at the next one."""

    SCOPE_KEY = "memoryhub.caller"

    def __init__(self, headers: Mapping[str, str], client: tuple[str, int] | None, path: str) -> None:
        self._headers = headers
        self._address = client[0] if client else ""
        self._path = path
        self._missing: list[str] = []

    @cached_property
    def actor(self) -> Actor:
        """Asks the database the first time, so the first time is in a thread for it. Raises Refused."""
        try:
            resource = f"{settings.PUBLIC_URL}{self._path}"
            return authenticate(self._headers, address=self._address, resource=resource)
        except Unauthorized as refusal:
            self._challenge(refusal)
        except RateLimited as refusal:
            refuse_for(refusal, {"Retry-After": str(refusal.details["retry_after"])})
        except Exception as fault:
            refuse_for(refusal_for(fault, "Authentication"))

    def lacks(self, missing: Iterable[str]) -> None:
        """Its answer will say so in a way that a client knows what more to ask its person for."""
        self._missing = [*missing]

    def telling(self, send: Send) -> Send:
        """`send`, with what the actor's answers say of its limits, once it is known, and of scopes it lacks."""

        async def told(message: Message) -> None:
            known: Actor | None = self.__dict__.get("actor")
            if message["type"] == "http.response.start" and known:
                status, headers = self._told(message["status"], known)
                extra = [(n.lower().encode(), v.encode()) for n, v in headers.items()]
                message = {**message, "status": status, "headers": [*message.get("headers", []), *extra]}
            await send(message)

        return told

    def _told(self, status: int, actor: Actor) -> tuple[int, Mapping[str, str]]:
        further = way_further(self._path, actor, self._missing)
        return (403, {**actor.headers, "WWW-Authenticate": further}) if further else (status, actor.headers)

    async def identify(self) -> None:
        """Raises Refused, unless the caller is known by now."""
        if "actor" not in self.__dict__:
            await in_db_thread(getattr, self, "actor")

    def _challenge(self, refusal: Unauthorized) -> NoReturn:
        sent = "authorization" in self._headers or "x-api-key" in self._headers
        refuse_for(refusal, {"WWW-Authenticate": way_in(self._path, "invalid_token" if sent else "")})
