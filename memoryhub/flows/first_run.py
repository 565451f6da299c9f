"""What a new installation starts with: a team, a space, a key for the first agent, a link for the first owner."""

from collections.abc import Callable
from dataclasses import dataclass
from uuid import UUID

from django.db import transaction

from accounts.actor import system_actor
from accounts.domain.accounts import create_account
from accounts.domain.invitations import invite
from accounts.domain.keys import create_key
from accounts.models import Account
from accounts.scopes import PRESETS, Role, Scope
from memoryhub.common.tenancy import tenant
from spaces.domain.spaces import create_space

TEAM = "My team"
SPACE = "Main"
AGENT = "First agent"
SCOPES = PRESETS["agent"] | {Scope.MEMORY_DELETE}


@dataclass(frozen=True)
class FirstRun:
    """`agent_key` and `owner_token` exist nowhere else."""

    account_id: UUID
    space_id: UUID
    agent_key: str
    owner_token: str


def ensure_first_run(keep: Callable[[FirstRun], None]) -> FirstRun | None:
    """Make the first team unless there is one already.

    `keep` stores the secrets before the commit: a team whose secrets were lost would have no way in.
    """
    if Account.objects.exists():
        return None
    with transaction.atomic():
        first = _make_first_team()
        keep(first)
    return first


def _make_first_team() -> FirstRun:
    account = create_account(TEAM, "my-team")
    actor = system_actor(account.id)
    with tenant(account.id):
        space = create_space(actor, name=SPACE)
        key = create_key(actor, name=AGENT, scopes=[str(s) for s in SCOPES], default_space_id=space.id)
        owner = invite(actor, Role.OWNER)
    return FirstRun(account.id, space.id, key.secret, owner.token)
