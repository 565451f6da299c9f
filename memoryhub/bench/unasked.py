"""The same calls without asking whether their caller may: what the asking costs. For measuring alone.

The key is still looked up by its secret and the space by its name. What is left out: whether the key's maker is still
of the team, and with which role; whether the space is open to them; the scopes; and the right in the space.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from unittest.mock import patch

from accounts.domain import credentials
from memoryhub.operations.base import Operation
from spaces.domain import access

KEY = """
    select k.id, k.account_id, k.created_by_id, k.name, k.scopes, k.families, k.profile, k.default_space_id,
           k.space_ids, k.device_label, k.addresses, k.last_used_at, 'owner', true
      from accounts_agentkey k
     where k.secret_hash = %s and k.revoked_at is null and (k.expires_at is null or k.expires_at > %s)
"""
SPACE = f"""
    select {", ".join(f"s.{name}" for name in access.COLUMNS.names)}, null as named_role from spaces_space s
     where s.account_id = %(account)s and (%(unnamed)s or s.slug = %(slug)s or s.id = %(id)s)
     order by s.slug = %(slug)s desc nulls last, s.created_at, s.id
     limit 1
"""  # noqa: S608 (constants)


@contextmanager
def nothing_asked() -> Iterator[None]:
    def let_in(*args: object, **kwargs: object) -> bool:
        return True

    with (
        patch.object(credentials, "LOOK_UP", KEY),
        patch.object(credentials, "still_entitled", let_in),
        patch.object(access, "LOOK_UP", SPACE),
        patch.object(access, "_check_right", let_in),
        patch.object(Operation, "check_scopes", let_in),
    ):
        yield
