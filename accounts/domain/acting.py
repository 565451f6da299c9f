"""What acts for a person while they are away, in each of their teams: keys that they made, clients that they let in."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.db import transaction
from django.db.models import Count

from accounts.actor import Actor
from accounts.domain.accounts import accounts_of
from accounts.domain.grants import end_grants
from accounts.domain.keys import end_keys
from accounts.models import Account, AgentKey, Grant, User
from memoryhub.common.errors import Forbidden


@dataclass(frozen=True)
class Acting:
    account: Account
    keys: int
    clients: int


def acting_for(user: User) -> list[Acting]:
    """Nothing of a team but its name and how many they are: more is on its own pages."""
    keys = _by_account(AgentKey.objects.live().filter(created_by_id=user.id))
    clients = _by_account(Grant.objects.live().connected().filter(user_id=user.id))
    return [Acting(one, keys.get(one.id, 0), clients.get(one.id, 0)) for one in accounts_of(user)]


def _by_account(rows: Any) -> dict[UUID, int]:
    counted: Iterable[tuple[UUID, int]] = (
        rows.order_by().values("account_id").annotate(n=Count("id")).values_list("account_id", "n")
    )
    return dict(counted)


def end_own(actor: Actor) -> tuple[int, int]:
    """All that acts for the person in this account ends now: how many keys, and how many clients."""
    if not actor.is_person or actor.user_id is None:
        raise Forbidden("Only a person can end what acts for them.")
    with transaction.atomic():
        return end_keys(actor, actor.user_id), end_grants(actor, actor.user_id)
