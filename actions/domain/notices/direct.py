"""The message in Slack that tells a person what waits for them, by the team's own connection: in numbers, with a link.

Nothing can be decided by it. That a message was begun is committed before it goes: where nobody knows whether it
arrived it stays so, and is never sent again. Whatever certainly did nothing may be tried again, or ends with a reason
that the person sees where they chose to be written to.
"""

import logging
from dataclasses import dataclass, field, replace
from datetime import timedelta
from uuid import UUID

from django.conf import settings
from django.db.models import QuerySet
from django.template.loader import render_to_string
from django.utils import timezone, translation

from accounts.domain.jobs import Wait
from accounts.models import Job
from actions.connectors.answers import NotSent, Refused, SignedOut, Trouble, Unclear
from actions.connectors.client import send
from actions.connectors.slack import escape, posting
from actions.connectors.slack_people import SERVICE, conversation_with
from actions.domain.connections import note_health, note_use
from actions.domain.notices.choices import NOT_CONNECTED, SIGNED_OUT, UNCLEAR, choice_of, slack_connection
from actions.domain.notices.lane import SLACK
from actions.domain.notices.waiting import Stock, drop_untold, reachable, still_asked, stock_of
from actions.domain.tokens import asking_by, with_token
from actions.models import Connection, MailChoice, Notice, Way
from memoryhub.common.odd import visible
from memoryhub.common.tenancy import tenant

log = logging.getLogger(__name__)

RETRIES = tuple(timedelta(seconds=s) for s in (30, 120, 600, 1800, 3600))


@dataclass(frozen=True)
class Addressee:
    """Whom to find, and by which connection."""

    account_id: UUID
    person: UUID
    address: str
    connection: Connection


@dataclass(frozen=True)
class Message:
    """One that is begun; `notices` are those that it tells of."""

    to: Addressee
    notices: list[UUID]
    text: str = field(repr=False)


def message_to(account_id: UUID, person: UUID, tries: int) -> Wait:
    """Answers when to try again, or None when there is nothing left to do."""
    with tenant(account_id):
        to = None if _is_put_off(account_id, person) else _addressee(account_id, person)
    if to is None:
        return None
    try:
        conversation = conversation_with(asking_by(to.connection, SERVICE), to.address)
    except (SignedOut, Refused) as trouble:
        return _give_up(to, trouble)
    except Trouble as trouble:  # nothing was said by asking
        return _later(to, trouble, tries)
    with tenant(account_id):
        message = _begin(to)
    return _say(message, conversation, tries) if isinstance(message, Message) else message


def _is_put_off(account_id: UUID, person: UUID) -> bool:
    """Slack said when to come back, or couldn't be reached: the job that waits for that brings everything along."""
    jobs = Job.objects.filter(kind=SLACK, account_id=account_id, object_id=person, leased_until=None)
    return jobs.filter(tries__gt=0, run_after__gt=timezone.now()).exists()


def _addressee(account_id: UUID, person: UUID) -> Addressee | None:
    """None where there is nothing to tell, or nobody to be told."""
    user, connection = reachable(person), slack_connection(account_id)
    if user is None or not choice_of(account_id, person).slack:
        drop_untold(account_id, person, Way.SLACK)
        return None
    if connection is None or connection.broken:
        _note(account_id, person, SIGNED_OUT if connection else NOT_CONNECTED)
        drop_untold(account_id, person, Way.SLACK)
        return None
    untold = Notice.objects.filter(account_id=account_id, user_id=person, way=Way.SLACK, told_at=None)
    return Addressee(account_id, person, user.email, connection) if untold.exists() else None


def _begin(found: Addressee) -> Message | Wait:
    """A last look at everything, and the mark that only one worker sets."""
    to = _addressee(found.account_id, found.person)
    if to is None:
        return None
    if (to.connection.id, to.address) != (found.connection.id, found.address):
        return RETRIES[0]
    asked = still_asked(to.account_id, to.person, Way.SLACK)
    if not asked:
        return None
    ids = [notice.id for notice, _action in asked]
    _mark(to.account_id, ids, begun=True)
    return Message(to, ids, words_of(stock_of(to.account_id, asked)))


def _say(message: Message, conversation: str, tries: int) -> Wait:
    to, call = message.to, posting(conversation, message.text)
    try:
        with_token(to.connection, lambda token: send(SERVICE, token, call))
    except (SignedOut, Refused) as trouble:
        return _give_up(to, trouble, message)
    except NotSent as trouble:
        return _later(to, trouble, tries, message)
    except Unclear:
        log.warning("it is not known whether person %s got a message in Slack", to.person)
        with tenant(to.account_id):
            _note(to.account_id, to.person, UNCLEAR)
        return None
    with tenant(to.account_id):
        _these(to.account_id, message.notices).update(in_doubt=False)
        _note(to.account_id, to.person, "")
        note_use(to.connection)
    return None


def _later(to: Addressee, trouble: Trouble, tries: int, begun: Message | None = None) -> Wait:
    """When Slack says, or later each time."""
    log.warning("person %s could not be told in Slack: %s", to.person, trouble.reason)
    if tries >= len(RETRIES):
        return _give_up(to, trouble, begun)
    if begun:
        with tenant(to.account_id):
            _mark(to.account_id, begun.notices, begun=False)
    pause = getattr(trouble, "retry_after", None)
    return timedelta(seconds=pause) if pause else RETRIES[tries]


def _give_up(to: Addressee, trouble: Trouble, begun: Message | None = None) -> Wait:
    """It certainly did nothing, and what waited isn't told in Slack: the person sees why."""
    with tenant(to.account_id):
        if begun:
            _mark(to.account_id, begun.notices, begun=False)
        drop_untold(to.account_id, to.person, Way.SLACK)
        signed_out = isinstance(trouble, SignedOut)
        _note(to.account_id, to.person, SIGNED_OUT if signed_out else trouble.reason)
        if signed_out:
            note_health(to.connection, trouble.reason)
    return None


def _mark(account_id: UUID, notices: list[UUID], *, begun: bool) -> None:
    _these(account_id, notices).update(told_at=timezone.now() if begun else None, in_doubt=begun)


def _these(account_id: UUID, notices: list[UUID]) -> QuerySet[Notice]:
    return Notice.objects.filter(account_id=account_id, id__in=notices)


def _note(account_id: UUID, person: UUID, trouble: str) -> None:
    MailChoice.objects.filter(account_id=account_id, user_id=person).update(slack_trouble=trouble[:80])


def words_of(stock: Stock) -> str:
    """Names are people's text: one line each, in which nothing is read as a mention or a link."""
    named = [replace(one, name=escape(" ".join(visible(one.name).split()))) for one in stock.waiting]
    with translation.override(settings.LANGUAGE_CODE):
        return render_to_string("letters/waiting_slack.txt", {"stock": replace(stock, waiting=named)}).strip()
