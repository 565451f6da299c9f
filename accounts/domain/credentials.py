"""From a request's headers to an actor. The only look-up that happens before an account is in force."""

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime, timedelta
from functools import lru_cache
from typing import Any, NamedTuple
from uuid import UUID

from django.utils import timezone

from accounts.actor import KEY, Actor, Attribution
from accounts.domain.keys import hash_secret, is_well_formed
from accounts.domain.limits import spend_request
from accounts.domain.tokens import GrantRow, find_grant, is_token
from accounts.models import AgentKey, Grant
from accounts.scopes import Role, Scope
from memoryhub.common.errors import Unauthorized
from memoryhub.common.live import KEYS, publish
from memoryhub.common.postgres.statements import row_of
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

    kind: str = KEY

    @property
    def person_id(self) -> UUID | None:
        return self.created_by_id

    @property
    def granted(self) -> frozenset[Scope]:
        return frozenset(Scope(s) for s in self.scopes)


def authenticate(headers: Mapping[str, str], *, address: str, resource: str = "") -> Actor:
    """The actor behind `Authorization: Bearer …` or `X-API-Key` (header names in lower case): an agent key, or an
    access token that is good at `resource`, the address that is called.

    Unknown, malformed, expired and revoked credentials, those of people who left, and those used from or at an
    address that they are not for are all refused alike.
    """
    row = entitled(headers, address, resource)
    note_use(row, address, without_secrets(headers.get("user-agent", "")))
    allowance = spend_request(row.id)
    actor = actor_of(row, headers, address)
    return replace(actor, headers=allowance.headers) if allowance else actor


def look_again(headers: Mapping[str, str], *, address: str, resource: str = "") -> Actor:
    """The actor of a request that is still being answered, if its credential still holds. It counts as no other."""
    return actor_of(entitled(headers, address, resource), headers, address)


def entitled(headers: Mapping[str, str], address: str, resource: str) -> KeyRow | GrantRow:
    secret = presented_secret(headers)
    row = find_grant(secret, resource) if is_token(secret) else entitled_key(secret, address)
    if row is None:
        raise Unauthorized("Send a valid agent key as `Authorization: Bearer mh_…` or `X-API-Key: mh_…`.")
    return row


def entitled_key(secret: str, address: str) -> KeyRow | None:
    row = find_key(secret) if is_well_formed(secret) else None
    return row if row and still_entitled(row, address) else None


def presented_secret(headers: Mapping[str, str]) -> str:
    scheme, _, token = headers.get("authorization", "").partition(" ")
    if scheme.lower() == "bearer":
        return token.strip()
    return headers.get("x-api-key", "").strip()


def find_key(secret: str) -> KeyRow | None:
    row = row_of(LOOK_UP, [hash_secret(secret), timezone.now()])
    return KeyRow(*row) if row else None


def still_entitled(row: KeyRow, address: str) -> bool:
    if row.created_by_id is not None and not (row.role and row.is_active):
        return False
    return not row.addresses or address in {str(a) for a in row.addresses}


def note_use(row: KeyRow | GrantRow, address: str, client: str) -> None:
    now = timezone.now()
    kind: Any = AgentKey if isinstance(row, KeyRow) else Grant
    if row.last_used_at is None or now - row.last_used_at >= NOTE_USE_EVERY:
        kind.objects.filter(id=row.id).update(
            last_used_at=now, last_used_address=address[:64], last_used_client=client[:LABEL]
        )
    if row.last_used_at is None:
        publish(row.account_id, None, KEYS, int(now.timestamp()))


def actor_of(row: KeyRow | GrantRow, headers: Mapping[str, str], address: str) -> Actor:
    return Actor(
        account_id=row.account_id,
        kind=row.kind,
        role=Role(row.role) if row.role else Role.MEMBER,
        user_id=row.person_id,
        key_id=row.id,
        scopes=row.granted,
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
