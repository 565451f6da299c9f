"""Whom an action needs, and when each of them is written to."""

from datetime import datetime, timedelta
from uuid import UUID

from django.db.models import Max, QuerySet
from django.utils import timezone

from accounts.domain.addresses import mail_is_sent
from accounts.domain.jobs import enqueue
from accounts.models import Job, Membership
from accounts.scopes import ROLE_RIGHTS, Right, Role
from actions.domain.notices.choices import Choice, choice_of
from actions.domain.notices.lane import MAIL, NOTICES, SLACK, TELL_PEOPLE
from actions.domain.policies.applying import verdict_on
from actions.domain.readiness import is_ready
from actions.domain.risk import risks_of
from actions.models import About, Action, MailMode, Notice, Status, Way
from spaces.domain.members import reach_of
from spaces.models import Space

DECIDERS = [role for role in Role if Right.DECIDE in ROLE_RIGHTS[role]]
MANAGERS = [role for role in Role if Right.MANAGE in ROLE_RIGHTS[role]]
LOOK_AGAIN, LOOK_FOR = timedelta(seconds=20), timedelta(minutes=2)
"""How long it may take to find out where an action leads."""
GATHERING = timedelta(seconds=15)
QUIET = timedelta(minutes=5)
"""At least between two letters to a person, and between two messages."""
KINDS = {Way.MAIL: MAIL, Way.SLACK: SLACK}


def tell_people(account_id: UUID, action_id: UUID) -> None:
    """Note for each who may decide that they are to be told, and in which ways."""
    action = Action.objects.filter(account_id=account_id, id=action_id).with_current().first()
    about = what_is_asked(action, timezone.now()) if action else None
    if action is None or about is None:
        return
    if about is About.DECIDE and not is_ready(action) and timezone.now() < action.created_at + LOOK_FOR:
        enqueue(TELL_PEOPLE, account_id, action_id, run_after=timezone.now() + LOOK_AGAIN)
        return
    urgent = about is About.SETTLE or bool(risks_of(action, verdict_on(action)))
    for person in people_for(action):
        _note(action, person, about, urgent)


def what_is_asked(action: Action, now: datetime) -> About | None:
    if action.status_at(now) == Status.PENDING:
        return About.DECIDE
    return (
        About.SETTLE if action.is_stale(now) or (action.status == Status.EXECUTING and action.doubt) else None
    )


def people_for(action: Action) -> list[UUID]:
    """Those who may decide on it, but for who proposed it."""
    found = may_decide_in(action.space)
    return [person for person in found if action.proposer != f"person:{person}"]


def may_decide_in(space: Space, only: UUID | None = None) -> list[UUID]:
    members = _members(space.account_id, DECIDERS, only)
    return [m.user_id for m in members if Right.DECIDE in reach_of(m, [space])[0].rights]


def may_manage(account_id: UUID, only: UUID | None = None) -> list[UUID]:
    return [m.user_id for m in _members(account_id, MANAGERS, only)]


def _members(account_id: UUID, roles: list[Role], only: UUID | None) -> QuerySet[Membership]:
    members = Membership.objects.filter(account_id=account_id, role__in=roles, user__is_active=True)
    return members if only is None else members.filter(user_id=only)


def _note(action: Action, person: UUID, about: About, urgent: bool) -> None:
    choice, now = choice_of(action.account_id, person), timezone.now()
    for way in _ways(choice):
        notice = Notice(
            account_id=action.account_id, space_id=action.space_id, action_id=action.id, user_id=person,
            about=about, way=way, urgent=urgent, created_at=now,
        )  # fmt: skip
        Notice.objects.bulk_create([notice], ignore_conflicts=True)
        last = _last_told(action.account_id, person, way)
        _have_told(action.account_id, person, way, when(choice, urgent, now, last))


def _ways(choice: Choice) -> list[Way]:
    mail = [Way.MAIL] if choice.mode != MailMode.NONE and mail_is_sent() else []
    return [*mail, Way.SLACK] if choice.slack else mail


def when(choice: Choice, urgent: bool, now: datetime, last: datetime | None) -> datetime:
    """Who has no letters gets messages as if they had chosen nothing."""
    at_once = choice.mode == MailMode.EACH or (urgent and choice.mode != MailMode.GATHERED)
    if not at_once:
        return now + timedelta(hours=choice.hours)
    return max(now + GATHERING, last + QUIET) if last else now + GATHERING


def _last_told(account_id: UUID, person: UUID, way: Way) -> datetime | None:
    notices = Notice.objects.filter(account_id=account_id, user_id=person, way=way)
    last: datetime | None = notices.aggregate(last=Max("told_at"))["last"]
    return last


def _have_told(account_id: UUID, person: UUID, way: Way, at: datetime) -> None:
    """One that is due by then brings this along."""
    waiting = Job.objects.filter(kind=KINDS[way], account_id=account_id, object_id=person, leased_until=None)
    if not waiting.filter(run_after__lte=at).exists():
        enqueue(KINDS[way], account_id, person, run_after=at, lane=NOTICES)
