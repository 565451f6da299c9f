"""The letter that tells a person what waits for them: how many, where, until when, and nothing that an agent wrote.

It leads to the page. Nothing can be decided by it.
"""

import logging
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from smtplib import SMTPException, SMTPRecipientsRefused
from uuid import UUID

from django.conf import settings
from django.core.mail import EmailMessage
from django.template.loader import render_to_string
from django.utils import timezone, translation

from accounts.domain.addresses import mail_is_sent
from accounts.domain.jobs import Wait
from actions.domain.notices.waiting import drop_untold, reachable, still_asked, stock_of
from actions.models import Notice, Way
from memoryhub.common.tenancy import tenant
from memoryhub.common.threads import let_go

log = logging.getLogger(__name__)

RETRIES = tuple(
    timedelta(seconds=s) for s in (30, 120, 600, 1800, 3600, 2 * 3600, 4 * 3600, 8 * 3600, 8 * 3600)
)
HEADERS = {"Auto-Submitted": "auto-generated", "X-Auto-Response-Suppress": "All"}


@dataclass(frozen=True)
class Letter:
    """`notices` are those that it tells of."""

    person: UUID
    address: str
    subject: str
    body: str
    notices: Sequence[UUID] = ()


def write_to(account_id: UUID, person: UUID, tries: int) -> Wait:
    """Answers when to try again, or None when there is nothing left to do."""
    if not mail_is_sent():
        return None
    with tenant(account_id):
        letter = compose_letter(account_id, person)
    if letter is None:
        return None
    wait = send_letter(letter, tries)
    if wait is None:
        with tenant(account_id):
            told = Notice.objects.filter(account_id=account_id, id__in=letter.notices)
            told.update(told_at=timezone.now())
    return wait


def send_letter(letter: Letter, tries: int) -> Wait:
    """When to try again, or None: it was taken, or never will be. Nothing of the database is held meanwhile."""
    let_go()
    try:
        EmailMessage(letter.subject, letter.body, to=[letter.address], headers=HEADERS).send()
    except (OSError, SMTPException) as error:
        log.warning("a letter to person %s could not be sent: %s", letter.person, type(error).__name__)
        if tries < len(RETRIES) and not is_final(error):
            return RETRIES[tries]
    return None


def is_final(error: Exception) -> bool:
    """The server knows no such address, and never will."""
    refused = error.recipients.values() if isinstance(error, SMTPRecipientsRefused) else ()
    return any(code >= 500 for code, _said in refused)


def compose_letter(account_id: UUID, person: UUID) -> Letter | None:
    """Of what is still asked of them; what isn't any more is dropped, and all of it while an address is only said."""
    user = reachable(person)
    if user is None:
        drop_untold(account_id, person, Way.MAIL)
        return None
    asked = still_asked(account_id, person, Way.MAIL)
    if not asked:
        return None
    with translation.override(settings.LANGUAGE_CODE), timezone.override(user.time_zone):
        text = render_to_string("letters/waiting.txt", {"stock": stock_of(account_id, asked)})
    subject, _, body = text.strip().partition("\n")
    return Letter(person, user.email, subject.strip(), body.strip() + "\n", [n.id for n, _action in asked])
