"""Letters to people who aren't here yet. Sent after the commit, and never relied on: what they say is shown too."""

from urllib.parse import urlencode

from django.conf import settings
from django.core.mail import EmailMessage
from django.template.loader import render_to_string

from accounts.domain.addresses import letter_mark
from accounts.models import Invitation

LETTER = "letter"
"""In the address behind the link of a letter: what tells that it came by one."""


def invitation_link(token: str) -> str:
    return f"{settings.PUBLIC_URL}/welcome/{token}/"


def send_invitation(invitation: Invitation, token: str) -> None:
    link = f"{invitation_link(token)}?{urlencode({LETTER: letter_mark(invitation)})}"
    context = {"invitation": invitation, "team": invitation.account.name, "link": link}
    subject, _, body = render_to_string("letters/invitation.txt", context).strip().partition("\n")
    EmailMessage(subject.strip(), body.strip() + "\n", to=[invitation.email]).send()
