"""Letters to people who aren't here yet. Sent after the commit, and never relied on: what they say is shown too."""

from django.conf import settings
from django.core.mail import EmailMessage
from django.template.loader import render_to_string

from accounts.models import Invitation

NOT_SENT = {"console", "dummy"}
"""Django's backends that no letter leaves the machine by."""


def mail_is_sent() -> bool:
    return settings.EMAIL_BACKEND.split(".")[-2] not in NOT_SENT


def invitation_link(token: str) -> str:
    return f"{settings.PUBLIC_URL}/welcome/{token}/"


def send_invitation(invitation: Invitation, token: str) -> None:
    context = {"invitation": invitation, "team": invitation.account.name, "link": invitation_link(token)}
    subject, _, body = render_to_string("letters/invitation.txt", context).strip().partition("\n")
    EmailMessage(subject.strip(), body.strip() + "\n", to=[invitation.email]).send()
