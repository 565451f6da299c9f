"""From a request's headers to an actor. The only look-up that happens before an account is in force."""

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime, timedelta
from functools import lru_cache
from typing import Any, NamedTuple
from uuid import UUID

from django.db import connection
from django.utils import timezone

from accounts.actor import Actor, Attribution
from accounts.domain.keys import hash_secret, is_well_formed
from accounts.domain.limits import spend_request
from accounts.models import AgentKey
from accounts.scopes import Role, Scope
from memoryhub.common.errors import Unauthorized
from memoryhub.common.live import KEYS, publish
from memoryhub.common.secrets import cut_text

NOTE_USE_EVERY = timedelta(minutes=1)
LABEL = 200

LOOK_UP = """
    select k.id, k.account_id, k.created_by_id, k.name, k.scopes, k.families, k.profile, k.default_space_id,
           k.space_ids, k.device_label, k.addresses, k.last_used_at, m.role, u.is_active
      from accounts_agentkey k
      left join accounts_membership m on m.account_id = k.account_id and m.user_id = k.created_by_id
      left join accounts_user u on u.id = k.created_by_id
     where k.secret_hash = %s and k.revoked_at is null and (k.expires_at is null or k.expires_at > %s)
"""


class KeyRow(NamedTuple):
    id: UUID
    account_id: UUID
    created_by_id: UUID | None
    name: str
    scopes: list[str]
    families: list[str]
    profile: str
    default_space_id: UUID | None
    space_ids: list[UUID] | None
    device_label: str
    addresses: list[Any]
    last_used_at: datetime | None
    role: str | None
    is_active: bool | None


def authenticate(headers: Mapping[str, str], *, address: str) -> Actor:
    """The actor behind `Authorization: Bearer …` or `X-API-Key` (header names in lower case).

    Unknown, malformed, expired and revoked credentials, those of people who left, and those used from an
    address that is not on the key's list are all refused alike.
    """
    row = entitled_key(headers, address)
    note_use(row, address, without_secrets(headers.get("user-agent", "")))
    allowance = spend_request(row.id)
    actor = key_actor(row, headers, address)
    return replace(actor, headers=allowance.headers) if allowance else actor


def look_again(headers: Mapping[str, str], *, address: str) -> Actor:
    """The actor of a request that is still being answered, if its credential still holds. It counts as no other."""
    return key_actor(entitled_key(headers, address), headers, address)


def entitled_key(headers: Mapping[str, str], address: str) -> KeyRow:
    secret = presented_secret(headers)
    row = find_key(secret) if is_well_formed(secret) else None
    if row is None or not still_entitled(row, address):
        raise Unauthorized("Send a valid agent key as `Authorization: Bearer mh_…` or `X-API-Key: mh_…`.")
    return row


def presented_secret(headers: Mapping[str, str]) -> str:
    scheme, _, token = headers.get("authorization", "").partition(" ")
    if scheme.lower() == "bearer":
        return token.strip()
    return headers.get("x-api-key", "").strip()


def find_key(secret: str) -> KeyRow | None:
    with connection.cursor() as cursor:
        cursor.execute(LOOK_UP, [hash_secret(secret), timezone.now()])
        row = cursor.fetchone()
    return KeyRow(*row) if row else None


def still_entitled(row: KeyRow, address: str) -> bool:
    if row.created_by_id is not None and not (row.role and row.is_active):
        return False
    return not row.addresses or address in {str(a) for a in row.addresses}


def note_use(row: KeyRow, address: str, client: str) -> None:
    now = timezone.now()
    if row.last_used_at is None or now - row.last_used_at >= NOTE_USE_EVERY:
        AgentKey.objects.filter(id=row.id).update(
            last_used_at=now, last_used_address=address[:64], last_used_client=client[:LABEL]
        )
    if row.last_used_at is None:
        publish(row.account_id, None, KEYS, int(now.timestamp()))


def key_actor(row: KeyRow, headers: Mapping[str, str], address: str) -> Actor:
    return Actor(
        account_id=row.account_id,
        kind="key",
        role=Role(row.role) if row.role else Role.MEMBER,
        user_id=row.created_by_id,
        key_id=row.id,
        scopes=frozenset(Scope(s) for s in row.scopes),
        families=frozenset(row.families),
        profile=row.profile,
        default_space_id=row.default_space_id,
        space_ids=frozenset(row.space_ids) if row.space_ids is not None else None,
        space_ref=headers.get("x-memory-hub-space", "").strip() or None,
        address=address,
        name=row.name,
        attribution=attribution(headers, row.device_label),
    )


@lru_cache(maxsize=1024)
def without_secrets(label: str) -> str:
    """What a client says of itself is stored beside what it writes. Cut before it is shortened."""
    return cut_text(label)[0]


def attribution(headers: Mapping[str, str], device_label: str) -> Attribution:
    def label(name: str) -> str:
        return without_secrets(headers.get(name, "").strip())[:LABEL]

    return Attribution(
        agent=label("x-memory-hub-agent-id"),
        agent_instance=label("x-memory-hub-agent-instance-id"),
        device_label=(label("x-memory-hub-device-label") or device_label)[:120],
        session=label("mcp-session-id"),
        client=label("user-agent"),
    )
