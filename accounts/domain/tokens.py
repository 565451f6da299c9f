"""From an access token to the grant it is of. Like keys', this look-up comes before any account is in force."""

import hashlib
import json
from collections.abc import Sequence
from datetime import datetime
from typing import Any, NamedTuple
from uuid import UUID

from django.utils import timezone

from accounts.actor import GRANT
from accounts.domain.resources import covers
from accounts.scopes import FAMILIES, Scope
from memoryhub.common.postgres.statements import row_of

ACCESS, REFRESH = "mho_", "mhr_"

LOOK_UP = """
    select g.id, g.account_id, g.user_id, g.name, t.scope, g.scopes, t.resource, g.profile,
           g.default_space_id, g.space_ids, g.last_used_at, m.role
      from oauth2_provider_accesstoken t
      join oauth2_provider_refreshtoken r on r.access_token_id = t.id and r.revoked is null
      join accounts_grant g on g.id = r.token_family and g.revoked_at is null
      join accounts_membership m on m.account_id = g.account_id and m.user_id = g.user_id
      join accounts_user u on u.id = g.user_id and u.is_active
     where t.token_checksum = %s and t.expires > %s
"""


class GrantRow(NamedTuple):
    id: UUID
    account_id: UUID
    person_id: UUID
    name: str
    scope: str
    agreed: list[str]
    resource: str
    profile: str
    default_space_id: UUID
    space_ids: list[UUID] | None
    last_used_at: datetime | None
    role: str

    device_label: str = ""
    families: Sequence[str] = FAMILIES
    kind: str = GRANT

    @property
    def granted(self) -> frozenset[Scope]:
        """Never more than was agreed to."""
        return frozenset(Scope(s) for s in self.scope.split() if s in self.agreed)

    @property
    def audience(self) -> Sequence[str]:
        """A token that names none is good nowhere."""
        found: Any = json.loads(self.resource)
        return found if isinstance(found, list) else []


def is_token(secret: str) -> bool:
    return secret.startswith(ACCESS)


def find_grant(token: str, resource: str) -> GrantRow | None:
    """The grant of a token that is good at that address, with its person's role as it is now."""
    found = row_of(LOOK_UP, [checksum(token), timezone.now()])
    row = GrantRow(*found) if found else None
    return row if row and covers(row.audience, resource) else None


def checksum(token: str) -> str:
    return hashlib.sha256(token.encode(errors="replace")).hexdigest()
