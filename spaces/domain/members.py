"""Who may do what in which space, and why."""

from dataclasses import dataclass
from uuid import UUID

from django.db import transaction

from accounts.actor import Actor
from accounts.domain.events import record_event
from accounts.domain.members import access_member, check_may_manage_members
from accounts.models import Membership
from accounts.scopes import ROLE_RIGHTS, Right, Role
from memoryhub.common.errors import Conflict, ValidationFailed
from memoryhub.common.ids import typed_id
from memoryhub.common.live import MEMBERS, publish
from spaces.domain.access import access_space, narrowed_role
from spaces.models import Space, SpaceMember
from spaces.models.spaces import ACCOUNT_WIDE_ROLES, VISIBILITIES


@dataclass(frozen=True)
class Reach:
    """What a person may do in a space, and the steps that it follows from. `role` None is: they don't see it."""

    space: Space
    role: Role | None
    named: Role | None
    because: str

    @property
    def rights(self) -> frozenset[Right]:
        return ROLE_RIGHTS[self.role] if self.role else frozenset()


SEES_ALL, OPEN, NAMED, NARROWED, NOT_NAMED = "sees_all", "open", "named", "narrowed", "not_named"


def reach_of(member: Membership, spaces: list[Space]) -> list[Reach]:
    """In each of the spaces; the same questions as `access_space` asks, in its order."""
    here = SpaceMember.objects.filter(account_id=member.account_id, user_id=member.user_id)
    named = {id: Role(role) for id, role in here.values_list("space_id", "role")}
    return [_reach(member, space, named.get(space.id)) for space in spaces]


def _reach(member: Membership, space: Space, named: Role | None) -> Reach:
    role = Role(member.role)
    if role in ACCOUNT_WIDE_ROLES:
        return Reach(space, role, named, SEES_ALL)
    if named is None:
        seen = space.visibility == "account"
        return Reach(space, role if seen else None, None, OPEN if seen else NOT_NAMED)
    actor = Actor(member.account_id, "person", role, user_id=member.user_id)
    found = narrowed_role(actor, named)
    return Reach(space, found, named, NARROWED if found is not role else NAMED)


def named_in(space: Space) -> dict[UUID, Role]:
    """The people with a role of their own in the space."""
    rows = SpaceMember.objects.filter(account_id=space.account_id, space_id=space.id)
    return {user: Role(role) for user, role in rows.values_list("user_id", "role")}


def set_space_role(actor: Actor, user_id: str | UUID, role: Role | None, *, space: str | UUID) -> None:
    """Name a person in a space, with a role that narrows theirs. None takes the name off again."""
    check_may_manage_members(actor)
    within = access_space(actor, space, right=Right.MANAGE)
    member = access_member(actor, user_id)
    if role and member.role in ACCOUNT_WIDE_ROLES:
        raise Conflict("Owners and admins see and manage every space: no role in a space narrows theirs.")
    named = SpaceMember.objects.filter(account_id=within.account_id, space=within, user_id=member.user_id)
    with transaction.atomic():
        former = named.select_for_update().values_list("role", flat=True).first()
        if former == role:
            return
        named.delete()
        if role:
            SpaceMember.objects.create(
                account_id=within.account_id, space=within, user_id=member.user_id, role=role
            )
        record_event(
            actor,
            "member.space_role_changed",
            "person",
            typed_id("usr", member.user_id),
            space_id=within.id,
            summary=f"{former or 'none'} to {role or 'none'}",
        )
        publish(within.account_id, None, MEMBERS, 0)


def set_visibility(actor: Actor, visibility: str, *, space: str | UUID) -> Space:
    """Whether the whole account sees the space, or owners, admins and those who are named in it."""
    check_may_manage_members(actor)
    within = access_space(actor, space, right=Right.MANAGE)
    if visibility not in VISIBILITIES:
        raise ValidationFailed({"visibility": [f"Must be one of {', '.join(VISIBILITIES)}."]})
    with transaction.atomic():
        stored = Space.objects.select_for_update(no_key=True).get(account_id=within.account_id, id=within.id)
        if stored.visibility != visibility:
            stored.visibility, stored.version = visibility, stored.version + 1
            stored.save(update_fields=["visibility", "version"])
            record_event(
                actor,
                "settings.updated",
                "space",
                typed_id("spc", stored.id),
                space_id=stored.id,
                summary=f"visible to {visibility}",
            )
            publish(within.account_id, None, MEMBERS, 0)
    return stored
