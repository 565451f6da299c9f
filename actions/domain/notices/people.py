"""Whom an action needs, and when each of them is written to."""

from datetime import datetime, timedelta
from uuid import UUID

from django.db.models import Max, QuerySet
from django.utils import timezone

from accounts.domain.jobs import enqueue
from accounts.models import Job, Membership
from accounts.scopes import ROLE_RIGHTS, Right, Role
from actions.domain.notices.choices import Choice, choice_of
from actions.domain.notices.lane import MAIL, NOTICES, TELL_PEOPLE
from actions.domain.policies.applying import verdict_on
from actions.domain.readiness import is_ready
from actions.domain.risk import risks_of
from actions.models import About, Action, MailMode, Notice, Status
from spaces.domain.members import reach_of
from spaces.models import Space

DECIDERS = [role for role in Role if Right.DECIDE in ROLE_RIGHTS[role]]
MANAGERS = [role for role in Role if Right.MANAGE in ROLE_RIGHTS[role]]
LOOK_AGAIN, LOOK_FOR = timedelta(seconds=20), timedelta(minutes=2)
"""How long it may take to find out where an action leads."""
GATHERING = timedelta(seconds=15)
QUIET = timedelta(minutes=5)
"""At least between two letters to a person."""


def tell_people(account_id: UUID, action_id: UUID) -> None:
    """Note for each who may decide that they are to be told, and have a letter written."""
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
    choice = choice_of(action.account_id, person)
    if choice.mode == MailMode.NONE:
        return
    now = timezone.now()
    notice = Notice(
        account_id=action.account_id, space_id=action.space_id, action_id=action.id, user_id=person,
        about=about, urgent=urgent, created_at=now,
    )  # fmt: skip
    Notice.objects.bulk_create([notice], ignore_conflicts=True)
    _write(action.account_id, person, when(choice, urgent, now, _last_letter(action.account_id, person)))


def when(choice: Choice, urgent: bool, now: datetime, last: datetime | None) -> datetime:
    at_once = choice.mode == MailMode.EACH or (urgent and choice.mode == MailMode.RISKY)
    if not at_once:
        return now + timedelta(hours=choice.hours)
    return max(now + GATHERING, last + QUIET) if last else now + GATHERING


def _last_letter(account_id: UUID, person: UUID) -> datetime | None:
    notices = Notice.objects.filter(account_id=account_id, user_id=person)
    last: datetime | None = notices.aggregate(last=Max("mailed_at"))["last"]
    return last


def _write(account_id: UUID, person: UUID, at: datetime) -> None:
    """One that is due by then brings this along."""
    waiting = Job.objects.filter(kind=MAIL, account_id=account_id, object_id=person, leased_until=None)
    if not waiting.filter(run_after__lte=at).exists():
        enqueue(MAIL, account_id, person, run_after=at, lane=NOTICES)
