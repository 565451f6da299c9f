"""Who calls: a credential becomes an actor, or a challenge that says where to get one."""

from collections.abc import Mapping
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

METADATA = "/.well-known/oauth-protected-resource"


class Caller:
    """The sender of one request. Its credential is looked up anew for each of them: a revoked key, or a member
    who was removed, is out at the next one."""

    SCOPE_KEY = "memoryhub.caller"

    def __init__(self, headers: Mapping[str, str], client: tuple[str, int] | None, path: str) -> None:
        self._headers = headers
        self._address = client[0] if client else ""
        self._path = path

    @cached_property
    def actor(self) -> Actor:
        """Asks the database the first time, so the first time is in a thread for it. Raises Refused."""
        try:
            return authenticate(self._headers, address=self._address)
        except Unauthorized as refusal:
            self._challenge(refusal)
        except RateLimited as refusal:
            refuse_for(refusal, {"Retry-After": str(refusal.details["retry_after"])})
        except Exception as fault:
            refuse_for(refusal_for(fault, "Authentication"))

    def telling(self, send: Send) -> Send:
        """`send`, with what the actor's answers say of its limits, once it is known."""

        async def told(message: Message) -> None:
            known: Actor | None = self.__dict__.get("actor")
            if message["type"] == "http.response.start" and known and known.headers:
                limits = [(n.lower().encode(), v.encode()) for n, v in known.headers.items()]
                message = {**message, "headers": [*message.get("headers", []), *limits]}
            await send(message)

        return told

    async def identify(self) -> None:
        """Raises Refused, unless the caller is known by now."""
        if "actor" not in self.__dict__:
            await in_db_thread(getattr, self, "actor")

    def _challenge(self, refusal: Unauthorized) -> NoReturn:
        sent = "authorization" in self._headers or "x-api-key" in self._headers
        error = 'error="invalid_token", ' if sent else ""
        where = f'Bearer {error}resource_metadata="{settings.PUBLIC_URL}{METADATA}{self._path}"'
        refuse_for(refusal, {"WWW-Authenticate": where})
