"""Addresses of people. One is what its person says until a letter has proven it: only who could read a letter that
went there has what stood in it."""

from allauth.account.models import EmailAddress
from django.conf import settings
from django.db import transaction
from django.db.models import Exists, OuterRef, QuerySet
from django.utils.crypto import constant_time_compare, salted_hmac

from accounts.models import Invitation, User

NOT_SENT = {"console", "dummy"}
"""Django's backends that no letter leaves the machine by."""


def mail_is_sent() -> bool:
    return settings.EMAIL_BACKEND.split(".")[-2] not in NOT_SENT


def is_proven(user: User) -> bool:
    return bool(EmailAddress.objects.filter(user_id=user.id, email=user.email, verified=True).exists())


def prove_address(user: User) -> None:
    """What they sign in with is theirs: a letter that went there came back."""
    address, _ = EmailAddress.objects.get_or_create(
        user_id=user.id, email=user.email, defaults={"primary": True}
    )
    address.set_verified()


def await_address(user: User, email: str) -> EmailAddress:
    """One that they want to change to, in place of another they wanted before."""
    with transaction.atomic():
        awaited(user).delete()
        return EmailAddress.objects.create(user=user, email=email.lower())


def awaited(user: User) -> QuerySet[EmailAddress]:
    theirs: QuerySet[EmailAddress] = EmailAddress.objects.filter(user_id=user.id)
    return theirs.filter(verified=False).exclude(email=user.email)


def belongs_to_another(address: EmailAddress) -> bool:
    """Somebody else signs in with it, proven or not."""
    return User.objects.filter(email=address.email).exclude(id=address.user_id).exists()


def letter_mark(invitation: Invitation) -> str:
    """What stands in the letter of an invitation and nowhere else: not even who invites gets to see it."""
    told = f"{invitation.id}:{invitation.email}"
    return salted_hmac("accounts.letters", told, algorithm="sha256").hexdigest()[:32]


def came_by_letter(invitation: Invitation, mark: str) -> bool:
    return bool(invitation.email) and constant_time_compare(mark, letter_mark(invitation))


def is_proven_row(user_id: str, email: str) -> Exists:
    """The same inside a query, for its columns of those names."""
    theirs = EmailAddress.objects.filter(user_id=OuterRef(user_id), email=OuterRef(email), verified=True)
    return Exists(theirs)


def domain_of(address: str) -> str:
    return address.rpartition("@")[2].lower()
