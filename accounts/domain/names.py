"""Who is behind the keys of actors that rows keep (`person:<id>`, `key:<id>`): names for people to read."""

from collections.abc import Iterable
from uuid import UUID

from accounts.actor import Actor
from accounts.models import AgentKey, User


def actor_names(actor: Actor, keys: Iterable[str]) -> dict[str, str]:
    """Names of the account's own people and agent keys; what is unknown here has none."""
    wanted = set(keys)
    people, agents = _ids(wanted, "person"), _ids(wanted, "key")
    members = User.objects.filter(id__in=people, memberships__account_id=actor.account_id) if people else ()
    held = AgentKey.objects.filter(id__in=agents, account_id=actor.account_id) if agents else ()
    return {
        **{f"person:{user.id}": user.get_full_name() for user in members},
        **{f"key:{key.id}": key.name for key in held},
    }


def _ids(keys: Iterable[str], kind: str) -> list[UUID]:
    return [UUID(key.removeprefix(f"{kind}:")) for key in keys if key.startswith(f"{kind}:")]
