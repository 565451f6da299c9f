"""One-time links into an account."""

import hashlib
import secrets
from dataclasses import dataclass
from datetime import timedelta

from django.contrib.auth.password_validation import validate_password
from django.core.exceptions import ValidationError
from django.db import transaction
from django.utils import timezone

from accounts.actor import Actor
from accounts.domain.accounts import add_member
from accounts.domain.events import record_event
from accounts.models import Account, AgentKey, Invitation, User
from accounts.scopes import Right, Role
from memoryhub.common.errors import Forbidden, NotFound, ValidationFailed
from memoryhub.common.ids import typed_id
from memoryhub.common.tenancy import tenant

LIFE = timedelta(days=7)


@dataclass(frozen=True)
class NewInvitation:
    """An invitation just made; `token` goes into its link and is never shown again."""

    invitation: Invitation
    token: str


def invite(actor: Actor, role: Role, *, email: str = "", life: timedelta = LIFE) -> NewInvitation:
    if actor.kind not in ("person", "system") or not actor.has(Right.MANAGE):
        raise Forbidden("Inviting needs the role owner or admin.")
    if role is Role.OWNER and actor.role is not Role.OWNER:
        raise Forbidden("Only an owner can invite an owner.")
    token = secrets.token_urlsafe(32)
    with transaction.atomic():
        invitation = Invitation.objects.create(
            account_id=actor.account_id,
            email=email.lower(),
            role=role,
            token_hash=token_hash(token),
            invited_by_id=actor.user_id,
            expires_at=timezone.now() + life,
        )
        record_event(actor, "member.invited", "invitation", str(invitation.id))
    return NewInvitation(invitation, token)


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


def accept_invitation(token: str, *, email: str, name: str, password: str, team: str = "") -> User:
    """Make the person, their membership and, for a first owner, the ownership of the first-run keys.

    `team` is what the first owner names the account.
    """
    invitation = access_invitation(token)
    with tenant(invitation.account_id):
        invitation = Invitation.objects.select_for_update().get(id=invitation.id)
        if invitation.accepted_at is not None:
            raise NotFound("invitation")
        if team.strip() and is_first_owner(invitation):
            Account.objects.filter(id=invitation.account_id).update(name=team.strip()[:120])
        user = new_person(email, name, password)
        add_member(invitation.account_id, user, Role(invitation.role))
        if invitation.role == Role.OWNER:
            AgentKey.objects.filter(account_id=invitation.account_id, created_by=None).update(created_by=user)
        invitation.accepted_at = timezone.now()
        invitation.save(update_fields=["accepted_at"])
        actor = Actor(invitation.account_id, "person", Role(invitation.role), user_id=user.id)
        record_event(actor, "member.joined", "person", typed_id("usr", user.id))
    return user


def new_person(email: str, name: str, password: str) -> User:
    user = User(email=email.strip().lower(), name=name.strip()[:120])
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
