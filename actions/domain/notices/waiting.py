"""What waits for a person, in numbers: what letters and messages are made of. Nothing that an agent wrote is in it."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from django.conf import settings
from django.utils import timezone

from accounts.domain.addresses import is_proven
from accounts.models import Account, User
from actions.connectors import CONNECTORS
from actions.domain.describe import page_url
from actions.domain.notices.people import may_decide_in, what_is_asked
from actions.models import About, Action, Notice, Way, whole
from spaces.models import Space

Asked = tuple[Notice, Action]


@dataclass(frozen=True)
class Waiting:
    """What a space has for a person. `classes` are counted by name where we know the name."""

    place: str
    name: str
    to_decide: int
    risky: int
    to_settle: int
    soonest: datetime | None
    classes: list[tuple[str, int]]
    link: str


@dataclass(frozen=True)
class Stock:
    """All that waits for a person; `decide` and `settle` are sums."""

    waiting: list[Waiting]
    decide: int
    settle: int
    choose: str


def reachable(person: UUID) -> User | None:
    """Unless they are locked out, or their address is only said."""
    user = User.objects.filter(id=person, is_active=True).first()
    return user if user and is_proven(user) else None


def drop_untold(account_id: UUID, person: UUID, way: Way) -> None:
    Notice.objects.filter(account_id=account_id, user_id=person, way=way, told_at=None).delete()


def still_asked(account_id: UUID, person: UUID, way: Way) -> list[Asked]:
    """Of what they weren't told yet in this way; what isn't asked of them any more is dropped."""
    rows = Notice.objects.filter(account_id=account_id, user_id=person, way=way, told_at=None)
    untold = list(rows.select_for_update())
    asked = _asked(account_id, person, untold)
    kept = {notice.id for notice, _ in asked}
    over = [notice.id for notice in untold if notice.id not in kept]
    Notice.objects.filter(account_id=account_id, id__in=over).delete()
    return asked


def _asked(account_id: UUID, person: UUID, untold: list[Notice]) -> list[Asked]:
    now, wanted = timezone.now(), {notice.action_id for notice in untold}
    actions = Action.objects.filter(account_id=account_id, id__in=wanted).with_current()
    found = {action.id: action for action in whole(actions)}
    spaces = {action.space_id: action.space for action in found.values()}
    theirs = {id for id, space in spaces.items() if may_decide_in(space, only=person)}
    pairs = [(notice, found[notice.action_id]) for notice in untold if notice.action_id in found]
    return [
        (notice, action)
        for notice, action in pairs
        if action.space_id in theirs and what_is_asked(action, now) == notice.about
    ]


def stock_of(account_id: UUID, asked: list[Asked]) -> Stock:
    account = Account.objects.get(id=account_id)
    spaces = {action.space_id: action.space for _, action in asked}
    waiting = [
        _waiting(account, space, [pair for pair in asked if pair[1].space_id == space.id])
        for space in spaces.values()
    ]
    return Stock(
        waiting,
        decide=sum(one.to_decide for one in waiting),
        settle=sum(one.to_settle for one in waiting),
        choose=f"{settings.PUBLIC_URL}/a/{account.slug}/notifications/",
    )


def _waiting(account: Account, space: Space, asked: list[Asked]) -> Waiting:
    """Names of classes may be an agent's words: addresses of the hub and names of ours are not."""
    to_decide = [action for notice, action in asked if notice.about == About.DECIDE]
    inbox = f"{settings.PUBLIC_URL}/a/{account.slug}/{space.slug}/inbox/"
    return Waiting(
        place=f"{account.slug}/{space.slug}",
        name=space.name,
        to_decide=len(to_decide),
        risky=sum(notice.urgent and notice.about == About.DECIDE for notice, _ in asked),
        to_settle=len(asked) - len(to_decide),
        soonest=min((action.expires_at for action in to_decide), default=None),
        classes=_classes(to_decide),
        link=page_url(asked[0][1]) if len(asked) == 1 else inbox,
    )


def _classes(actions: Iterable[Action]) -> list[tuple[str, int]]:
    names = [action.class_name for action in actions]
    return [(name, names.count(name)) for name in CONNECTORS if name in names]
