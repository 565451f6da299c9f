"""The letter that tells a person what waits for them: how many, where, until when, and nothing that an agent wrote.

It leads to the page. Nothing can be decided by it.
"""

import logging
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from smtplib import SMTPException, SMTPRecipientsRefused
from uuid import UUID

from django.conf import settings
from django.core.mail import EmailMessage
from django.template.loader import render_to_string
from django.utils import timezone, translation

from accounts.domain.addresses import is_proven, mail_is_sent
from accounts.models import Account, User
from actions.connectors import CONNECTORS
from actions.domain.describe import page_url
from actions.domain.notices.people import may_decide_in, what_is_asked
from actions.models import About, Action, Notice
from memoryhub.common.tenancy import tenant
from memoryhub.common.threads import let_go
from spaces.models import Space

log = logging.getLogger(__name__)

RETRIES = tuple(
    timedelta(seconds=s) for s in (30, 120, 600, 1800, 3600, 2 * 3600, 4 * 3600, 8 * 3600, 8 * 3600)
)
HEADERS = {"Auto-Submitted": "auto-generated", "X-Auto-Response-Suppress": "All"}

Wait = timedelta | None


@dataclass(frozen=True)
class Waiting:
    """What a space has for a person. `classes` are counted by name where we know the name."""

    place: str
    to_decide: int
    risky: int
    to_settle: int
    soonest: datetime | None
    classes: list[tuple[str, int]]
    link: str


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
            told.update(mailed_at=timezone.now())
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


def reachable(person: UUID) -> User | None:
    """Unless they are locked out, or their address is only said."""
    user = User.objects.filter(id=person, is_active=True).first()
    return user if user and is_proven(user) else None


def is_final(error: Exception) -> bool:
    """The server knows no such address, and never will."""
    refused = error.recipients.values() if isinstance(error, SMTPRecipientsRefused) else ()
    return any(code >= 500 for code, _said in refused)


def compose_letter(account_id: UUID, person: UUID) -> Letter | None:
    """Of what is still asked of them; what isn't any more is dropped, and all of it while an address is only said."""
    user = reachable(person)
    unsent = list(Notice.objects.filter(account_id=account_id, user_id=person, mailed_at=None))
    asked = _asked(account_id, person, unsent) if user else {}
    over = [notice.id for notice in unsent if notice.id not in asked]
    Notice.objects.filter(account_id=account_id, id__in=over).delete()
    if user is None or not asked:
        return None
    with translation.override(settings.LANGUAGE_CODE), timezone.override(user.time_zone):
        subject, body = _words(account_id, list(asked.values()))
    return Letter(person, user.email, subject, body, list(asked))


def _asked(account_id: UUID, person: UUID, unsent: list[Notice]) -> dict[UUID, tuple[Notice, Action]]:
    now, wanted = timezone.now(), {notice.action_id for notice in unsent}
    actions = Action.objects.filter(account_id=account_id, id__in=wanted).with_current()
    found = {action.id: action for action in actions}
    spaces = {action.space_id: action.space for action in found.values()}
    theirs = {id for id, space in spaces.items() if may_decide_in(space, only=person)}
    pairs = [(notice, found[notice.action_id]) for notice in unsent if notice.action_id in found]
    return {
        notice.id: (notice, action)
        for notice, action in pairs
        if action.space_id in theirs and what_is_asked(action, now) == notice.about
    }


def _words(account_id: UUID, asked: list[tuple[Notice, Action]]) -> tuple[str, str]:
    account = Account.objects.get(id=account_id)
    spaces = {action.space_id: action.space for _, action in asked}
    waiting = [
        _waiting(account, space, [pair for pair in asked if pair[1].space_id == space.id])
        for space in spaces.values()
    ]
    context = {
        "waiting": waiting,
        "decide": sum(one.to_decide for one in waiting),
        "settle": sum(one.to_settle for one in waiting),
        "choose": f"{settings.PUBLIC_URL}/a/{account.slug}/notifications/",
    }
    subject, _, body = render_to_string("letters/waiting.txt", context).strip().partition("\n")
    return subject.strip(), body.strip() + "\n"


def _waiting(account: Account, space: Space, asked: list[tuple[Notice, Action]]) -> Waiting:
    """Names of spaces and classes may be an agent's words: addresses of the hub and names of ours are not."""
    to_decide = [action for notice, action in asked if notice.about == About.DECIDE]
    inbox = f"{settings.PUBLIC_URL}/a/{account.slug}/{space.slug}/inbox/"
    return Waiting(
        place=f"{account.slug}/{space.slug}",
        to_decide=len(to_decide),
        risky=sum(notice.urgent and notice.about == About.DECIDE for notice, _ in asked),
        to_settle=len(asked) - len(to_decide),
        soonest=min((action.expires_at for action in to_decide), default=None),
        classes=_classes(to_decide),
        link=page_url(asked[0][1]) if len(asked) == 1 else inbox,
    )


def _classes(actions: list[Action]) -> list[tuple[str, int]]:
    names = [action.class_name for action in actions]
    return [(name, names.count(name)) for name in CONNECTORS if name in names]
