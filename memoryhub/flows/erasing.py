"""Erasing a space with all that it holds, or a person of the team: first what would go, then for good, then a receipt.

Events stay, and with them the chain: they hold ids only. Backups made before keep what was in them until they end.
"""

from __future__ import annotations

from dataclasses import dataclass
from uuid import UUID

from allauth.account.models import EmailAddress
from allauth.mfa.models import Authenticator
from allauth.usersessions.models import UserSession
from django.apps import apps
from django.contrib.sessions.models import Session
from django.db import connection, models, transaction
from django.utils import timezone

from accounts.actor import Actor
from accounts.domain.events import record_event
from accounts.domain.grants import erase_grants
from accounts.domain.invitations import open_invitations_of, withdraw_invitations_of
from accounts.domain.members import access_member, check_may_change, keep_an_owner, lock_owners
from accounts.models import AgentKey, Grant, Invitation, Membership, User
from accounts.scopes import Right
from actions.domain.notices.choices import forget_person
from memoryhub.common.errors import Conflict, Forbidden, NotFound, ValidationFailed
from memoryhub.common.ids import typed_id
from memoryhub.flows.transfers import drop_exports, drop_transfers, transfers_of
from spaces.domain.access import access_space, require_right
from spaces.domain.kinds import all_kinds
from spaces.models import Space, SpaceMember

NOBODY = "erased.invalid"
KEPT = {"evt"}
"""Kinds whose rows stay: they hold no text."""


@dataclass(frozen=True)
class Receipt:
    """What goes, or what has gone: how many of what. `id` names what was erased; nothing here repeats its text."""

    id: str
    counts: dict[str, int]

    @property
    def total(self) -> int:
        return sum(self.counts.values())


def preview_space(actor: Actor, space: str | UUID | None = None) -> Receipt:
    within = access_space(actor, space, right=Right.DELETE_SPACE)
    counts = {
        kind.name: _rows(kind.model_label, within).count() for kind in all_kinds() if kind.prefix not in KEPT
    }
    return Receipt(typed_id("spc", within.id), {name: count for name, count in counts.items() if count})


def erase_space(actor: Actor, *, typed: str, space: str | UUID | None = None) -> Receipt:
    """With every row in it, every earlier version and all that is derived. `typed` is the space's slug, as typed."""
    _require_person(actor)
    within = access_space(actor, space, right=Right.DELETE_SPACE)
    if typed.strip() != within.slug:
        raise ValidationFailed({"typed": ["Type the name as it is shown. Nothing was erased."]})
    with transaction.atomic():
        if Space.objects.filter(account_id=within.account_id).count() == 1:
            raise Conflict("This is the only space of the team. Make another one first.")
        receipt = preview_space(actor, within.id)
        drop_exports(within.account_id)
        _delete(within)
        record_event(
            actor, "space.erased", "space", receipt.id, space_id=within.id, summary=f"{receipt.total} rows"
        )
    return receipt


def _delete(space: Space) -> None:
    """The database itself follows every reference: what nobody may change by hand goes too."""
    with connection.cursor() as cursor:
        cursor.execute(
            "delete from spaces_space where account_id = %s and id = %s", [space.account_id, space.id]
        )


def _rows(label: str, space: Space) -> models.QuerySet[models.Model]:
    rows: models.QuerySet[models.Model] = apps.get_model(label)._default_manager.filter(
        account_id=space.account_id, space_id=space.id
    )
    return rows


def member_with_address(actor: Actor, address: str) -> UUID:
    require_right(actor, None, Right.MANAGE)
    members = Membership.objects.filter(account_id=actor.account_id, user__email__iexact=address.strip())
    found = members.values_list("user_id", flat=True).first()
    if found is None:
        raise NotFound("person")
    return found


def people_of(actor: Actor) -> list[Membership]:
    """Those of the team other than the actor."""
    require_right(actor, None, Right.MANAGE)
    members = Membership.objects.filter(account_id=actor.account_id).select_related("user")
    found = members.order_by("user__name", "user__email")
    return [member for member in found if member.user_id != actor.user_id]


def name_of_member(actor: Actor, user_id: str | UUID) -> tuple[str, str]:
    """Name and address."""
    user = _access(actor, user_id).user
    return user.name, user.email


def preview_member(actor: Actor, user_id: str | UUID) -> Receipt:
    """What goes with a person. What they wrote is the team's, and stays."""
    membership = _access(actor, user_id)
    here = {"account_id": actor.account_id}
    counts = {
        "membership": 1,
        "role in a space": SpaceMember.objects.filter(**here, user_id=membership.user_id).count(),
        "connected client": Grant.objects.connected().filter(**here, user_id=membership.user_id).count(),
        "key": AgentKey.objects.filter(**here, created_by_id=membership.user_id).count(),
        "invitation": _invitations(membership).count(),
        "export or import": transfers_of(actor.account_id, membership.user_id).count(),
        "account of the person": 0 if _is_elsewhere(membership) else 1,
    }
    return Receipt(typed_id("usr", membership.user_id), {name: n for name, n in counts.items() if n})


def erase_member(actor: Actor, user_id: str | UUID, *, typed: str) -> Receipt:
    """Out of the team at once; a person of no other team loses address, name, password and sessions too.

    The empty row stays, since what they agreed to refers to it. `typed` is their address, as typed.
    """
    _require_person(actor)
    with transaction.atomic():
        owners = lock_owners(actor.account_id)
        membership = _access(actor, user_id, lock=True)
        user = membership.user
        if typed.strip().lower() != user.email.lower():
            raise ValidationFailed({"typed": ["Type the address as it is shown. Nothing was erased."]})
        keep_an_owner(membership, owners)
        receipt = preview_member(actor, user.id)
        last = not _is_elsewhere(membership)
        here = {"account_id": actor.account_id}
        AgentKey.objects.filter(**here, created_by_id=user.id).delete()
        erase_grants(actor, user.id)
        forget_person(actor.account_id, user.id)
        withdraw_invitations_of(actor, user.id)
        _invitations(membership).delete()
        drop_transfers(actor.account_id, user.id)
        SpaceMember.objects.filter(**here, user_id=user.id).delete()
        membership.delete()
        if last:
            _empty(user)
        record_event(actor, "member.erased", "person", receipt.id)
    return receipt


def _access(actor: Actor, user_id: str | UUID, *, lock: bool = False) -> Membership:
    require_right(actor, None, Right.MANAGE)
    member = access_member(actor, user_id, lock=lock)
    check_may_change(actor, member)
    return member


def _invitations(membership: Membership) -> models.QuerySet[Invitation]:
    """Every one to their address, and those of their own making that can still be used."""
    to_them = Invitation.objects.filter(account_id=membership.account_id, email__iexact=membership.user.email)
    return to_them | open_invitations_of(membership.account_id, membership.user_id)


def _is_elsewhere(membership: Membership) -> bool:
    return Membership.objects.filter(user_id=membership.user_id).exclude(id=membership.id).exists()


def _empty(user: User) -> None:
    for session in Session.objects.filter(expire_date__gt=timezone.now()).iterator():
        if session.get_decoded().get("_auth_user_id") == str(user.id):
            session.delete()
    for kept in (EmailAddress, Authenticator, UserSession):
        kept.objects.filter(user=user).delete()
    user.email, user.name, user.is_active = f"{user.id.hex}@{NOBODY}", "", False
    user.is_staff = user.is_superuser = False
    user.time_zone, user.last_login = "UTC", None
    user.set_unusable_password()
    user.save()


def _require_person(actor: Actor) -> None:
    if actor.kind not in ("person", "system"):
        raise Forbidden("Only a person can erase a space or a person.")
