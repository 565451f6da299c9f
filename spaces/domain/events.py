"""The feed of events: in sealed order, and only what its reader may know."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from django.db.models import Max, Q

from accounts.actor import Actor
from accounts.models import Event
from accounts.scopes import Right
from memoryhub.common.errors import ValidationFailed
from spaces.domain.access import access_space
from spaces.models import Space

TYPE = re.compile(r"[a-z_]{1,32}\.(?:[a-z_]{1,32}|\*)")
FOR_MANAGERS = ("key", "member", "connection", "export", "import")


@dataclass(frozen=True)
class Feed:
    """Everything up to the number `next_after` has been looked at. `unsealed` are yet to get their number."""

    events: list[Event]
    next_after: int
    unsealed: int


def list_events(actor: Actor, *, after: int = 0, types: Sequence[str] = (), limit: int = 100) -> Feed:
    """The next sealed events after a number, of the spaces that the actor reads and of the account as a whole.

    Where the request names a space: of that space only. A type is like `record.updated` or `record.*`.
    """
    account = Event.objects.filter(account_id=actor.account_id)
    last = account.aggregate(last=Max("seq"))["last"] or 0
    found = account.filter(_readable(actor), _of_types(types), seq__gt=after, seq__lte=last)
    events = list(found.order_by("seq")[:limit])
    reached = events[-1].seq if len(events) == limit else None
    return Feed(events, next_after=reached or max(after, last), unsealed=account.filter(seq=None).count())


def _readable(actor: Actor) -> Q:
    if actor.space_ref:
        return Q(space_id=access_space(actor).id)
    readable = Q(space_id__in=Space.objects.visible_to(actor).values("id")) | Q(space_id=None)
    if actor.has(Right.MANAGE):
        return readable
    for noun in FOR_MANAGERS:
        readable &= ~Q(type__startswith=f"{noun}.")
    return readable


def _of_types(types: Sequence[str]) -> Q:
    wanted = Q()
    for type in types:
        if not TYPE.fullmatch(type):
            raise ValidationFailed(
                {"types": ["Must be types like record.updated or record.* between commas."]}
            )
        wanted |= Q(type__startswith=type[:-1]) if type.endswith("*") else Q(type=type)
    return wanted
