"""What a caller is here: its account, credential and spaces."""

from dataclasses import dataclass
from uuid import UUID

from accounts.actor import Actor
from accounts.domain.accounts import access_account
from accounts.models import Account, AgentKey
from accounts.scopes import Role
from memoryhub.common.errors import NotFound
from spaces.domain.access import access_space, list_spaces, narrowed_role
from spaces.models import Space, SpaceMember

NOBODY = UUID(int=0)


@dataclass(frozen=True)
class Introduction:
    """`space` is the one in which a call works that names none, if there is such a space."""

    account: Account
    key: AgentKey | None
    space: Space | None
    spaces: list[tuple[Space, Role]]


def introduce(actor: Actor) -> Introduction:
    return Introduction(
        account=access_account(actor),
        key=_key_of(actor),
        space=_space_of(actor),
        spaces=spaces_with_roles(actor),
    )


def spaces_with_roles(actor: Actor) -> list[tuple[Space, Role]]:
    """By name, every space the actor reads, with its role there."""
    named = SpaceMember.objects.filter(account_id=actor.account_id, user_id=actor.user_id or NOBODY)
    roles = dict(named.values_list("space_id", "role"))
    return [(space, narrowed_role(actor, roles.get(space.id))) for space in list_spaces(actor)]


def _key_of(actor: Actor) -> AgentKey | None:
    keys = AgentKey.objects.filter(account_id=actor.account_id)
    return keys.filter(id=actor.key_id).first() if actor.key_id else None


def _space_of(actor: Actor) -> Space | None:
    try:
        return access_space(actor)
    except NotFound:
        return None
