"""When a person is written to, as they chose for this team, and whether in Slack too."""

from dataclasses import dataclass, field
from datetime import timedelta
from uuid import UUID

from django.utils import timezone

from accounts.actor import Actor
from accounts.scopes import Right
from actions.connectors.slack_people import SCOPES
from actions.models import Connection, MailChoice, MailMode, Notice, Way, WebhookLetter
from memoryhub.common.errors import Conflict, Forbidden, ValidationFailed
from spaces.domain.access import require_right

HOURS = (1, 4, 24)
NOT_CONNECTED, SIGNED_OUT, UNCLEAR = "not connected", "signed out", "unclear"
LONGEST_SENDING = timedelta(minutes=5)


@dataclass(frozen=True)
class Choice:
    """`slack_trouble` is why the last message there didn't arrive."""

    mode: MailMode = MailMode.RISKY
    hours: int = 1
    slack: bool = False
    slack_trouble: str = ""


@dataclass(frozen=True)
class SlackOffer:
    """What a person can have in Slack: nothing without a connection that works, and is allowed what it `lacks`."""

    on: bool = False
    trouble: str = ""
    connected: bool = False
    lacks: list[str] = field(default_factory=list)

    @property
    def stands(self) -> bool:
        return self.connected and not self.lacks


def choice_of(account_id: UUID, person: UUID) -> Choice:
    found = MailChoice.objects.filter(account_id=account_id, user_id=person).first()
    return Choice(MailMode(found.mode), found.hours, found.slack, found.slack_trouble) if found else Choice()


def choose_mail(actor: Actor, mode: str, hours: int) -> Choice:
    """For oneself; what waits to be told is told by what was chosen before."""
    _check_person(actor)
    if mode not in list(MailMode):
        raise ValidationFailed({"mode": [f"Must be one of {', '.join(MailMode)}."]})
    if hours not in HOURS:
        raise ValidationFailed({"hours": [f"Must be one of {', '.join(map(str, HOURS))}."]})
    return _keep(actor, mode=mode, hours=hours)


def choose_slack(actor: Actor, *, on: bool) -> Choice:
    """For oneself, at the times of letters."""
    _check_person(actor)
    offer = slack_offer(actor)
    if on and not offer.connected:
        raise Conflict("The team has no Slack connection that works. An owner or admin connects Slack first.")
    if on and offer.lacks:
        lacking = ", ".join(offer.lacks)
        raise Conflict(f"The team's Slack connection lacks {lacking}. An owner or admin connects Slack anew.")
    return _keep(actor, slack=on, slack_trouble="")


def slack_offer(actor: Actor) -> SlackOffer:
    """To oneself."""
    assert actor.user_id is not None
    choice, connection = choice_of(actor.account_id, actor.user_id), slack_connection(actor.account_id)
    trouble = choice.slack_trouble or (UNCLEAR if _last_in_doubt(actor.account_id, actor.user_id) else "")
    if connection is None or connection.broken:
        return SlackOffer(choice.slack, trouble)
    lacks = [scope for scope in SCOPES if connection.scopes and scope not in connection.scopes]
    return SlackOffer(choice.slack, trouble, connected=True, lacks=lacks)


def slack_connection(account_id: UUID) -> Connection | None:
    return Connection.objects.standing().filter(account_id=account_id, vendor="slack").first()


def anybody_in_slack(account_id: UUID) -> bool:
    return MailChoice.objects.filter(account_id=account_id, slack=True).exists()


def forget_person(account_id: UUID, person: UUID) -> None:
    """What there is of them here, when they leave the team."""
    MailChoice.objects.filter(account_id=account_id, user_id=person).delete()
    Notice.objects.filter(account_id=account_id, user_id=person).delete()
    WebhookLetter.objects.filter(account_id=account_id, user_id=person).delete()


def _check_person(actor: Actor) -> None:
    if not actor.is_person or actor.user_id is None:
        raise Forbidden("Only a person chooses when they are written to.")
    require_right(actor, None, Right.READ)


def _keep(actor: Actor, **chosen: object) -> Choice:
    assert actor.user_id is not None
    MailChoice.objects.update_or_create(account_id=actor.account_id, user_id=actor.user_id, defaults=chosen)
    return choice_of(actor.account_id, actor.user_id)


def _last_in_doubt(account_id: UUID, person: UUID) -> bool:
    """Of a worker that is gone: one that is at work knows soon."""
    over = timezone.now() - LONGEST_SENDING
    told = Notice.objects.filter(account_id=account_id, user_id=person, way=Way.SLACK, told_at__lt=over)
    last = told.order_by("-told_at", "-id").first()
    return last is not None and last.in_doubt
