"""One-time links into an account."""

import hashlib
import secrets
from dataclasses import dataclass
from datetime import timedelta
from uuid import UUID

from django.contrib.auth.password_validation import validate_password
from django.core.exceptions import ValidationError
from django.core.validators import validate_email
from django.db import IntegrityError, transaction
from django.db.models import QuerySet
from django.utils import timezone

from accounts.actor import Actor
from accounts.domain.accounts import add_member, member_actor
from accounts.domain.addresses import came_by_letter, is_proven, mail_is_sent, prove_address
from accounts.domain.events import record_event, record_events
from accounts.domain.letters import send_invitation
from accounts.models import Account, AgentKey, Invitation, Membership, User
from accounts.models.accounts import InvitationQuerySet
from accounts.scopes import ROLES_TO_GIVE, Right, Role
from memoryhub.common.errors import Conflict, Forbidden, NotFound, ValidationFailed
from memoryhub.common.ids import typed_id
from memoryhub.common.naming import check_naming
from memoryhub.common.odd import hiding_kinds, mixed_words
from memoryhub.common.tenancy import tenant

LIFE = timedelta(days=7)


@dataclass(frozen=True)
class NewInvitation:
    """An invitation just made; `token` goes into its link and is never shown again."""

    invitation: Invitation
    token: str


def invite(actor: Actor, role: Role, *, email: str = "", life: timedelta = LIFE) -> NewInvitation:
    """A link for one person, once. With an address it is for who has that address, and goes there by mail where
    there is a mail server."""
    check_may_invite(actor, role)
    address = email.strip().lower()
    check_address(actor.account_id, address)
    token = secrets.token_urlsafe(32)
    with transaction.atomic():
        invitation = Invitation.objects.create(
            account_id=actor.account_id,
            email=address,
            role=role,
            token_hash=token_hash(token),
            invited_by_id=actor.user_id,
            expires_at=timezone.now() + life,
        )
        record_event(actor, "member.invited", "invitation", str(invitation.id))
        if address and mail_is_sent():
            transaction.on_commit(lambda: send_invitation(invitation, token), robust=True)
    return NewInvitation(invitation, token)


def check_may_invite(actor: Actor, role: Role) -> None:
    if actor.kind not in ("person", "system") or not actor.has(Right.MANAGE):
        raise Forbidden("Inviting needs the role owner or admin.")
    if role not in ROLES_TO_GIVE[actor.role]:
        raise Forbidden(f"Only an owner can invite to the role {role}.")


def check_address(account_id: UUID, address: str) -> None:
    if not address:
        return
    try:
        validate_email(address)
    except ValidationError:
        raise ValidationFailed({"email": ["This is not an e-mail address."]}) from None
    check_spelling(address)
    if Membership.objects.filter(account_id=account_id, user__email=address).exists():
        raise ValidationFailed({"email": ["This person is a member already."]})


def check_spelling(address: str) -> None:
    """It reads as what it is: others see it beside a name, and take its domain for the team's or not."""
    if hiding_kinds(address) or mixed_words(address):
        raise ValidationFailed({"email": ["Mixes letters of different scripts, or hides some."]})


def list_invitations(actor: Actor) -> list[Invitation]:
    """Those that can still be used, the latest first."""
    if not actor.has(Right.MANAGE):
        return []
    found = Invitation.objects.open().filter(account_id=actor.account_id).select_related("invited_by")
    return list(found.order_by("-created_at", "-id"))


def withdraw_invitation(actor: Actor, id: str) -> None:
    """Its link ends now."""
    check_may_invite(actor, Role.MEMBER)
    with transaction.atomic():
        found = Invitation.objects.open().filter(account_id=actor.account_id, id=_uuid(id)).first()
        if found is None:
            raise NotFound("invitation")
        check_may_invite(actor, Role(found.role))
        record_event(actor, "member.invitation_withdrawn", "invitation", str(found.id))
        found.delete()


def open_invitations_of(account_id: UUID, user_id: UUID) -> QuerySet[Invitation]:
    """Those that the person made."""
    return Invitation.objects.open().filter(account_id=account_id, invited_by_id=user_id)


def withdraw_invitations_of(actor: Actor, user_id: UUID, role: Role | None = None) -> None:
    """Those that the person made and may not make any more with the role that is left to them, if one is."""
    losing = open_invitations_of(actor.account_id, user_id)
    if role:
        losing = losing.exclude(role__in=ROLES_TO_GIVE.get(role, ()))
    ended = list(losing.select_for_update().values_list("id", flat=True))
    record_events(actor, "member.invitation_withdrawn", "invitation", dict.fromkeys(map(str, ended)))
    Invitation.objects.filter(id__in=ended).delete()


def access_invitation(token: str, user: User | None = None) -> Invitation:
    """The open invitation behind a link. Used, expired and unknown ones are all absent, and so is one whose maker
    may not invite to its role any more, or that waits for somebody else than `user` to sign in."""
    invitation = _invitations(token).open().first()
    if invitation is None or not _is_left_to(invitation, user):
        raise NotFound("invitation")
    _check_maker(invitation)
    return invitation


def _is_left_to(invitation: Invitation, user: User | None) -> bool:
    return invitation.claimed_for in ("", user.email if user else "")


def joined_by(token: str, user: User) -> Membership | None:
    """What the user is in the account that a used link led into, if they are in it."""
    used = _invitations(token).exclude(accepted_at=None)
    members = Membership.objects.filter(user=user, account__in=used.values("account"))
    return members.select_related("account").first()


def _invitations(token: str) -> InvitationQuerySet:
    return Invitation.objects.select_related("account").filter(token_hash=token_hash(token))


def _check_maker(invitation: Invitation) -> None:
    """Rights are looked up when they are used. What the operator made has no person behind it."""
    if invitation.invited_by_id is None:
        return
    try:
        check_may_invite(member_actor(invitation.invited_by_id, invitation.account_id), Role(invitation.role))
    except (Forbidden, NotFound):
        raise NotFound("invitation") from None


def is_first_owner(invitation: Invitation) -> bool:
    """Whether it brings the first person into the account."""
    return invitation.role == Role.OWNER and not invitation.account.memberships.exists()


def accept_invitation(
    token: str, *, email: str, name: str, password: str, team: str = "", letter: str = ""
) -> User | None:
    """Make the person, their membership and, for a first owner, the ownership of the first-run keys.

    None where the address is somebody's already: from then on the link is for them alone, once they have signed in. So
    a link asks about one address at most. `team` is what the first owner names the account; `letter` is the mark of
    the letter that the link came by.
    """
    invitation = access_invitation(token)
    with tenant(invitation.account_id):
        invitation = _taken(invitation)
        if invitation.email and email.strip().lower() != invitation.email:
            raise ValidationFailed({"email": [f"This invitation is for {invitation.email}."]})
        user = new_person(email, name, password)
        if not _stored(user):
            invitation.claimed_for = user.email
            invitation.save(update_fields=["claimed_for"])
            return None
        if team.strip() and is_first_owner(invitation):
            Account.objects.filter(id=invitation.account_id).update(name=check_naming(team, "team"))
        if came_by_letter(invitation, letter) or (is_first_owner(invitation) and not mail_is_sent()):
            prove_address(user)
        _join(invitation, user)
    return user


def join(token: str, user: User, *, letter: str = "") -> Account:
    """The same for somebody who is here already, in another team."""
    invitation = access_invitation(token, user)
    with tenant(invitation.account_id):
        invitation = _taken(invitation, user)
        check_is_for(invitation, user, letter)
        if Membership.objects.filter(account_id=invitation.account_id, user=user).exists():
            raise Conflict("You are a member of this team already.")
        if came_by_letter(invitation, letter):
            prove_address(user)
        _join(invitation, user)
    return invitation.account


def check_is_for(invitation: Invitation, user: User, letter: str = "") -> None:
    """An address that an invitation names is one that its letter, or another before, has proven."""
    if not invitation.email:
        return
    if user.email != invitation.email:
        raise Forbidden("This invitation is for another address than the one you are signed in with.")
    if not (came_by_letter(invitation, letter) or is_proven(user)):
        raise Forbidden(
            "Nothing has shown yet that this address is yours. Open the link in the letter of the invitation, "
            "or have a letter sent on the page of your e-mail address, or ask for a link that names no address."
        )


def _taken(invitation: Invitation, user: User | None = None) -> Invitation:
    """Locked, so that of two who use the link at once one comes too late."""
    locked = Invitation.objects.select_for_update(of=("self",)).select_related("account")
    found = locked.filter(id=invitation.id, accepted_at=None).first()
    if found is None or not _is_left_to(found, user):
        raise NotFound("invitation")
    _check_maker(found)
    return found


def _join(invitation: Invitation, user: User) -> None:
    """The keys that were there before anybody are the first owner's. What the operator makes later stays theirs."""
    Account.objects.select_for_update(no_key=True).get(id=invitation.account_id)  # there is one first
    first = is_first_owner(invitation)
    add_member(invitation.account_id, user, Role(invitation.role))
    if first:
        AgentKey.objects.filter(account_id=invitation.account_id, created_by=None).update(created_by=user)
    invitation.accepted_at = timezone.now()
    invitation.save(update_fields=["accepted_at"])
    actor = Actor(invitation.account_id, "person", Role(invitation.role), user_id=user.id)
    record_event(actor, "member.joined", "person", typed_id("usr", user.id))


def _uuid(id: str) -> UUID:
    try:
        return UUID(id)
    except ValueError:
        raise NotFound("invitation") from None


def new_person(email: str, name: str, password: str) -> User:
    """In order, and not stored yet. As much work for an address that is known as for any other."""
    user = User(email=email.strip().lower(), name=check_naming(name))
    check_spelling(user.email)
    try:
        validate_password(password, user)
        user.set_password(password)
        user.full_clean(exclude=["password"], validate_unique=False)
    except ValidationError as error:
        fields = error.message_dict if hasattr(error, "error_dict") else {"password": error.messages}
        raise ValidationFailed(fields) from error
    return user


def _stored(user: User) -> bool:
    """Unless somebody has the address."""
    try:
        user.save()
    except IntegrityError:
        return False
    return True


def token_hash(token: str) -> bytes:
    return hashlib.sha256(token.encode()).digest()
