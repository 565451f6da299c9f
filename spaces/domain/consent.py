"""Where a person may let a client in: the spaces they see, of each account in which they may make keys."""

from dataclasses import dataclass
from uuid import UUID

from accounts.actor import Actor
from accounts.domain.accounts import accounts_of, person_actor
from accounts.domain.grants import Consent
from accounts.models import Account, Application, Grant, User
from accounts.scopes import KEY_MAKERS
from memoryhub.common.errors import NotFound
from memoryhub.common.tenancy import tenant
from spaces.domain.access import access_space, list_spaces
from spaces.models import Space


@dataclass(frozen=True)
class Room:
    """An account, as its member, with what they see in it."""

    account: Account
    actor: Actor
    spaces: list[Space]


def rooms_of(user: User, *, address: str = "") -> list[Room]:
    rooms = []
    for account in accounts_of(user):
        actor = person_actor(user, account.slug, address=address)
        if actor.role in KEY_MAKERS:
            with tenant(account.id):
                rooms.append(Room(account, actor, list_spaces(actor)))
    return [room for room in rooms if room.spaces]


def consent_to(rooms: list[Room], space_id: UUID, *, only_here: bool) -> Consent:
    """To work in that space first, or with `only_here` in no other."""
    for room in rooms:
        if space_id in {space.id for space in room.spaces}:
            with tenant(room.account.id):
                space = access_space(room.actor, space_id)
            return Consent(room.actor, space.id, (space.id,) if only_here else None)
    raise NotFound("space")


def earlier_grant(user: User, client: Application) -> Grant | None:
    """The last that they gave to this client and that still stands: it may be asking for more now."""
    given = Grant.objects.live().connected().filter(user=user, application=client)
    return given.order_by("-created_at", "-id").first()
