"""The inbox of a space: what waits for whom, and the hint to open pages that it has changed."""

from collections.abc import Collection
from dataclasses import dataclass, replace
from uuid import UUID

from django.db import connection
from django.db.models import Count, Q
from django.utils import timezone

from accounts.actor import Actor
from accounts.scopes import ROLE_RIGHTS, Right
from actions.models import OPEN, Action, Status, holding, in_doubt, snoozed, stale, whole
from memoryhub.common.errors import ValidationFailed
from memoryhub.common.live import INBOX, publish
from memoryhub.common.paging import Page, page_of, page_size
from spaces.domain.access import access_space, role_in
from spaces.models import Space

TABS = ("needs_you", "waiting", "snoozed", "approved", "done", "failed")
COUNTED = ("needs_you", "waiting", "snoozed", "approved")
"""Those of which it is of use to know how many there are: what is over only grows."""
LASTING: dict[str, tuple[Status, ...]] = {
    "approved": (Status.APPROVED, Status.EXECUTING),
    "done": (Status.DONE,),
    "failed": (Status.FAILED, Status.REJECTED, Status.EXPIRED, Status.CANCELLED),
}
PAGE, MAX_PAGE = 50, 200
CHOICES = 500

RAISE = "update spaces_space set inbox_version = inbox_version + 1 where id = %s returning inbox_version"


@dataclass(frozen=True)
class Choices:
    """What a tab can be narrowed by: classes, and the names of the credentials that proposed."""

    classes: list[str]
    proposers: list[str]


def list_inbox(
    actor: Actor,
    tab: str = "needs_you",
    *,
    class_name: str = "",
    proposer: str = "",
    token: str | None = None,
    size: int | None = None,
) -> Page[Action]:
    """One tab of the actor's space, newest first; of one class or one proposer's name if told.

    `needs_you`: pending ones that the actor may decide on, claimed ones that nothing was heard of for an hour, and
    those of which our worker can't tell what became. `waiting`: the other pending ones, but for those
    that are `snoozed`. `failed`: all that ended
    without being done.
    """
    space = access_space(actor)
    actions = Action.objects.inside(space).filter(_in_tab(actor, space, tab)).with_current()
    wanted = {"class_name": class_name, "proposer_name": proposer}
    actions = actions.filter(**{name: value for name, value in wanted.items() if value})
    filters = {"space": str(space.id), "tab": tab, **wanted}
    page = page_of(
        actions, token=token, size=page_size(size, PAGE, MAX_PAGE), actor_key=actor.key, filters=filters
    )
    return replace(page, items=list(whole(page.items)))


def inbox_choices(actor: Actor, tab: str) -> Choices:
    space = access_space(actor)
    actions = Action.objects.inside(space).filter(_in_tab(actor, space, tab)).order_by()
    pairs = list(actions.values_list("class_name", "proposer_name").distinct()[:CHOICES])
    return Choices(sorted({name for name, _ in pairs}), sorted({who for _, who in pairs if who}))


def count_inbox(actor: Actor, tabs: Collection[str] = TABS) -> dict[str, int]:
    """How many there are in each of the tabs, in one query."""
    space = access_space(actor)
    counts = {tab: Count("id", filter=_in_tab(actor, space, tab)) for tab in tabs}
    actions = Action.objects.inside(space)
    if set(tabs) <= set(COUNTED):
        actions = actions.filter(status__in=OPEN)
    counted: dict[str, int] = actions.aggregate(**counts)
    return counted


def announce(space_id: UUID, account_id: UUID) -> None:
    """Raise the inbox's version and tell open pages, once the current transaction is committed.

    The last thing in a transaction: it takes the space's row, after any action's.
    """
    with connection.cursor() as cursor:
        cursor.execute(RAISE, [space_id])
        row: tuple[int] = cursor.fetchone()
    publish(account_id, space_id, INBOX, row[0])


def _in_tab(actor: Actor, space: Space, tab: str) -> Q:
    now = timezone.now()
    if tab in LASTING:
        return holding(LASTING[tab], now)
    if tab not in TABS:
        raise ValidationFailed({"tab": [f"Must be one of {', '.join(TABS)}."]})
    pending, own = holding((Status.PENDING,), now), Q(proposer=actor.key)
    if tab == "snoozed":
        return pending & snoozed(now)
    pending &= ~snoozed(now)
    if not (actor.is_person and Right.DECIDE in ROLE_RIGHTS[role_in(actor, space)]):
        return pending if tab == "waiting" else Q(pk__in=[])
    return pending & own if tab == "waiting" else (pending & ~own) | stale(now) | in_doubt()
