"""The people of a team: who they are, and with which role."""

from collections.abc import Iterable
from uuid import UUID

from allauth.mfa.models import Authenticator
from django.db import transaction

from accounts.actor import Actor
from accounts.domain.events import record_event
from accounts.domain.invitations import withdraw_invitations_of
from accounts.models import Membership
from accounts.scopes import ROLES_TO_GIVE, Right, Role
from memoryhub.common.errors import Conflict, Forbidden, NotFound
from memoryhub.common.ids import parse_id, typed_id
from memoryhub.common.live import MEMBERS, publish

SECOND_STEPS = (Authenticator.Type.TOTP, Authenticator.Type.WEBAUTHN)


def list_members(actor: Actor) -> list[Membership]:
    """Owners first, then by name."""
    members = Membership.objects.filter(account_id=actor.account_id).select_related("user")
    ranks = list(Role)
    return sorted(members, key=lambda m: (ranks.index(Role(m.role)), m.user.get_full_name().casefold()))


def with_second_step(members: Iterable[Membership]) -> set[UUID]:
    """The people among them who sign in with more than a password: an app, a passkey or a security key."""
    steps = Authenticator.objects.filter(user_id__in=[m.user_id for m in members], type__in=SECOND_STEPS)
    return set(steps.values_list("user_id", flat=True))


def access_member(actor: Actor, user_id: str | UUID, *, lock: bool = False) -> Membership:
    rows = Membership.objects.filter(account_id=actor.account_id, user_id=parse_id("usr", user_id))
    found = (rows.select_for_update(of=("self",)) if lock else rows).select_related("user").first()
    if found is None:
        raise NotFound("person")
    return found


def check_may_manage_members(actor: Actor) -> None:
    if actor.kind not in ("person", "system") or not actor.has(Right.MANAGE):
        raise Forbidden("Managing members needs the role owner or admin.")


def check_may_change(actor: Actor, member: Membership) -> None:
    """What owners are is for owners to change."""
    check_may_manage_members(actor)
    if member.role == Role.OWNER and actor.role is not Role.OWNER:
        raise Forbidden("Only an owner can change what an owner is.")


def may_change(actor: Actor, member: Membership) -> bool:
    try:
        check_may_change(actor, member)
    except Forbidden:
        return False
    return True


def roles_to_give(actor: Actor, member: Membership | None = None) -> list[Role]:
    """Only an owner makes owners and approvers, or gives themselves another role. What somebody is they may stay."""
    if not actor.has(Right.MANAGE) or (member and not may_change(actor, member)):
        return []
    if actor.role is not Role.OWNER and member and member.user_id == actor.user_id:
        return []
    kept = {member.role} if member else set()
    return [role for role in Role if role in ROLES_TO_GIVE[actor.role] or role in kept]


def change_role(actor: Actor, user_id: str | UUID, role: Role) -> Membership:
    """It holds from the next request on, on every path: what was given before is narrowed with it."""
    check_may_manage_members(actor)
    with transaction.atomic():
        owners = lock_owners(actor.account_id)
        member = access_member(actor, user_id, lock=True)
        if role not in roles_to_give(actor, member):
            raise Forbidden("You can't give this person that role. Ask an owner of the team.")
        if member.role == role:
            return member
        if role is not Role.OWNER:
            keep_an_owner(member, owners)
        former, member.role = member.role, role
        member.save(update_fields=["role"])
        withdraw_invitations_of(actor, member.user_id, role)
        told = typed_id("usr", member.user_id)
        record_event(actor, "member.role_changed", "person", told, summary=f"{former} to {role}")
        publish(actor.account_id, None, MEMBERS, 0)
    return member


def lock_owners(account_id: UUID) -> set[UUID]:
    """The owners, who stay as they are until the transaction ends: two can't make each other the last at once."""
    owners = Membership.objects.filter(account_id=account_id, role=Role.OWNER).order_by("id")
    return set(owners.select_for_update().values_list("user_id", flat=True))


def keep_an_owner(member: Membership, owners: set[UUID]) -> None:
    if owners == {member.user_id}:
        raise Conflict("This is the last owner of the team. Make somebody else an owner first.")
