"""When a person is written to, as they chose for this team."""

from dataclasses import dataclass
from uuid import UUID

from accounts.actor import Actor
from accounts.scopes import Right
from actions.models import MailChoice, MailMode, Notice, WebhookLetter
from memoryhub.common.errors import Forbidden, ValidationFailed
from spaces.domain.access import require_right

HOURS = (1, 4, 24)


@dataclass(frozen=True)
class Choice:
    mode: MailMode = MailMode.RISKY
    hours: int = 1


def choice_of(account_id: UUID, person: UUID) -> Choice:
    found = MailChoice.objects.filter(account_id=account_id, user_id=person).first()
    return Choice(MailMode(found.mode), found.hours) if found else Choice()


def choose_mail(actor: Actor, mode: str, hours: int) -> Choice:
    """For oneself; what waits to be told is told by what was chosen before."""
    if not actor.is_person or actor.user_id is None:
        raise Forbidden("Only a person chooses when they are written to.")
    require_right(actor, None, Right.READ)
    if mode not in list(MailMode):
        raise ValidationFailed({"mode": [f"Must be one of {', '.join(MailMode)}."]})
    if hours not in HOURS:
        raise ValidationFailed({"hours": [f"Must be one of {', '.join(map(str, HOURS))}."]})
    MailChoice.objects.update_or_create(
        account_id=actor.account_id, user_id=actor.user_id, defaults={"mode": mode, "hours": hours}
    )
    return Choice(MailMode(mode), hours)


def forget_person(account_id: UUID, person: UUID) -> None:
    """What there is of them here, when they leave the team."""
    MailChoice.objects.filter(account_id=account_id, user_id=person).delete()
    Notice.objects.filter(account_id=account_id, user_id=person).delete()
    WebhookLetter.objects.filter(account_id=account_id, user_id=person).delete()
