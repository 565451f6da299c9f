"""Who calls: a credential becomes an actor, or a challenge that says where to get one."""

from collections.abc import Mapping
from typing import NoReturn

from django.conf import settings

from accounts.actor import Actor
from accounts.domain.credentials import authenticate
from memoryhub.common.errors import Unauthorized
from memoryhub.common.faults import refusal_for
from memoryhub.common.threads import in_db_thread
from memoryhub.mcp.refusals import refuse_for

ACTOR = "memoryhub.actor"
METADATA = "/.well-known/oauth-protected-resource"


async def identify(headers: Mapping[str, str], client: tuple[str, int] | None, path: str) -> Actor:
    """Asked anew for every request: a revoked key, or a member who was removed, is out at the next one."""
    try:
        return await in_db_thread(authenticate, headers, address=client[0] if client else "")
    except Unauthorized as refusal:
        challenge(refusal, headers, path)
    except Exception as fault:
        refuse_for(refusal_for(fault, "Authentication"))


def challenge(refusal: Unauthorized, headers: Mapping[str, str], path: str) -> NoReturn:
    sent = "authorization" in headers or "x-api-key" in headers
    error = 'error="invalid_token", ' if sent else ""
    where = f'Bearer {error}resource_metadata="{settings.PUBLIC_URL}{METADATA}{path}"'
    refuse_for(refusal, {"WWW-Authenticate": where})
