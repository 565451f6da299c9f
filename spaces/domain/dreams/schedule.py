"""What is to be done by itself: server mode when it is due, near-identical memories daily, a look back weekly."""

from datetime import datetime, time, timedelta
from uuid import UUID

from django.utils import timezone

from accounts.actor import system_actor
from accounts.domain.jobs import enqueue
from memoryhub.common.llm import language_model
from spaces.domain.dreams.briefs import choose_input
from spaces.domain.dreams.clustering import is_time
from spaces.domain.dreams.due import dream_state, has_changed
from spaces.domain.dreams.lane import CLUSTER, DREAMING, THINK
from spaces.domain.dreams.runs import begin, lock_dreams, open_run
from spaces.models import Space

SUNDAY, REFLECTED = 6, time(4, 45)


def look(account_id: UUID) -> None:
    """In the account's transaction. As often as one likes: a space has one open run."""
    now = timezone.now()
    for space in Space.objects.filter(account_id=account_id).order_by("id"):
        if is_time(space.clustered_at, now):
            enqueue(CLUSTER, account_id, space.id, lane=DREAMING)
        if space.dream_mode == "server" and language_model():
            _begin_if_due(space, now)


def _begin_if_due(space: Space, now: datetime) -> None:
    lock_dreams(space)
    if open_run(space, now):
        return
    if dream_state(space).due:
        _begin(space, "dream")
    elif reflects(space.reflected_at, now) and has_changed(space, space.reflected_at):
        Space.objects.filter(account_id=space.account_id, id=space.id).update(reflected_at=now)
        _begin(space, "reflection")


def _begin(space: Space, kind: str) -> None:
    actor = system_actor(space.account_id)
    run = begin(actor, space, kind=kind, thinker="server", chosen=choose_input(space))
    enqueue(THINK, space.account_id, run.id, lane=DREAMING)


def reflects(last: datetime | None, now: datetime) -> bool:
    """Whether a Sunday's moment has passed since."""
    sunday = now.date() - timedelta(days=(now.weekday() - SUNDAY) % 7)
    moment = datetime.combine(sunday, REFLECTED, tzinfo=now.tzinfo)
    latest = moment if moment <= now else moment - timedelta(days=7)
    return last is None or last < latest
