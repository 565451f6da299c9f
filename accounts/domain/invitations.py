"""One-time links into an account."""

import hashlib
import secrets
from dataclasses import dataclass
from datetime import timedelta
from uuid import UUID

from django.contrib.auth.password_validation import validate_password
from django.core.exceptions import ValidationError
from django.core.validators import validate_email
from django.db import transaction
from django.utils import timezone

from accounts.actor import Actor
from accounts.domain.accounts import add_member
from accounts.domain.addresses import came_by_letter, is_proven, mail_is_sent, prove_address
from accounts.domain.events import record_event
from accounts.domain.letters import send_invitation
from accounts.models import Account, AgentKey, Invitation, Membership, User
from accounts.scopes import Right, Role
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
    if role is Role.OWNER and actor.role is not Role.OWNER:
        raise Forbidden("Only an owner can invite an owner.")


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


def access_invitation(token: str) -> Invitation:
    """The open invitation behind a link; used, expired and unknown ones are all absent."""
    invitation = (
        Invitation.objects.open().select_related("account").filter(token_hash=token_hash(token)).first()
    )
    if invitation is None:
        raise NotFound("invitation")
    return invitation


def is_first_owner(invitation: Invitation) -> bool:
    """Whether it brings the first person into the account."""
    return invitation.role == Role.OWNER and not invitation.account.memberships.exists()


def is_known(address: str) -> bool:
    """Whether somebody here has the address. For who holds a link that names it, and nobody else."""
    return bool(address) and User.objects.filter(email=address).exists()


def accept_invitation(
    token: str, *, email: str, name: str, password: str, team: str = "", letter: str = ""
) -> User:
    """Make the person, their membership and, for a first owner, the ownership of the first-run keys.

    `team` is what the first owner names the account; `letter` is the mark of the letter that the link came by.
    """
    invitation = access_invitation(token)
    with tenant(invitation.account_id):
        invitation = _taken(invitation)
        if invitation.email and email.strip().lower() != invitation.email:
            raise ValidationFailed({"email": [f"This invitation is for {invitation.email}."]})
        if team.strip() and is_first_owner(invitation):
            Account.objects.filter(id=invitation.account_id).update(name=check_naming(team, "team"))
        user = new_person(email, name, password)
        if came_by_letter(invitation, letter) or (is_first_owner(invitation) and not mail_is_sent()):
            prove_address(user)
        _join(invitation, user)
    return user


def join(token: str, user: User, *, letter: str = "") -> Account:
    """The same for somebody who is here already, in another team."""
    invitation = access_invitation(token)
    with tenant(invitation.account_id):
        invitation = _taken(invitation)
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


def _taken(invitation: Invitation) -> Invitation:
    """Locked, so that of two who use the link at once one comes too late."""
    locked = Invitation.objects.select_for_update(of=("self",)).select_related("account")
    found = locked.filter(id=invitation.id, accepted_at=None).first()
    if found is None:
        raise NotFound("invitation")
    return found


def _join(invitation: Invitation, user: User) -> None:
    add_member(invitation.account_id, user, Role(invitation.role))
    if invitation.role == Role.OWNER:
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
    user = User(email=email.strip().lower(), name=check_naming(name))
    check_spelling(user.email)
    if User.objects.filter(email=user.email).exists():
        raise ValidationFailed({"email": ["This address has an account already: sign in first."]})
    try:
        validate_password(password, user)
        user.set_password(password)
        user.full_clean(exclude=["password"])
    except ValidationError as error:
        fields = error.message_dict if hasattr(error, "error_dict") else {"password": error.messages}
        raise ValidationFailed(fields) from error
    user.save()
    return user


def token_hash(token: str) -> bytes:
    return hashlib.sha256(token.encode()).digest()
