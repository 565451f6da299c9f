"""A person leaves the team: what they hold here ends at once. What they wrote is the team's, and stays."""

from dataclasses import dataclass
from uuid import UUID

from django.db import transaction
from django.db.models import QuerySet

from accounts.actor import Actor
from accounts.domain.events import record_event
from accounts.domain.grants import end_grants
from accounts.domain.invitations import open_invitations_of, withdraw_invitations_of
from accounts.domain.keys import end_keys
from accounts.domain.members import (
    access_member,
    check_may_change,
    check_may_manage_members,
    keep_an_owner,
    lock_owners,
)
from accounts.models import AgentKey, Grant, Invitation, Membership
from actions.domain.notices.choices import forget_person
from memoryhub.common.ids import typed_id
from memoryhub.common.live import MEMBERS, publish
from memoryhub.flows.transfers import drop_transfers, transfers_of
from spaces.models import SpaceMember


@dataclass(frozen=True)
class Leaving:
    """How many of what ends with the membership."""

    keys: int
    clients: int
    space_roles: int
    transfers: int
    invitations: int


def preview_leaving(actor: Actor, user_id: str | UUID) -> Leaving:
    check_may_manage_members(actor)
    member = access_member(actor, user_id)
    check_may_change(actor, member)
    return Leaving(
        keys=_live_keys(member).count(),
        clients=Grant.objects.connected()
        .filter(account_id=actor.account_id, user_id=member.user_id, revoked_at=None)
        .count(),
        space_roles=_space_roles(member).count(),
        transfers=transfers_of(actor.account_id, member.user_id).count(),
        invitations=open_invitations_of(actor.account_id, member.user_id).count(),
    )


def remove_member(actor: Actor, user_id: str | UUID) -> Leaving:
    """Sessions, keys, sockets and approvals stop counting with the next look at them. Who comes back begins anew."""
    with transaction.atomic():
        owners = lock_owners(actor.account_id)
        leaving = preview_leaving(actor, user_id)
        member = access_member(actor, user_id, lock=True)
        keep_an_owner(member, owners)
        end_keys(actor, member.user_id)
        end_grants(actor, member.user_id)
        _space_roles(member).delete()
        drop_transfers(actor.account_id, member.user_id)
        withdraw_invitations_of(actor, member.user_id)
        forget_person(actor.account_id, member.user_id)
        Invitation.objects.open().filter(
            account_id=actor.account_id, email__iexact=member.user.email
        ).delete()
        told = typed_id("usr", member.user_id)
        member.delete()
        record_event(actor, "member.removed", "person", told)
        publish(actor.account_id, None, MEMBERS, 0)
    return leaving


def _live_keys(member: Membership) -> QuerySet[AgentKey]:
    return AgentKey.objects.live().filter(account_id=member.account_id, created_by_id=member.user_id)


def _space_roles(member: Membership) -> QuerySet[SpaceMember]:
    return SpaceMember.objects.filter(account_id=member.account_id, user_id=member.user_id)
