"""A dream now, because a person wants one: whatever the interval and however little has changed."""

from django.db import transaction
from django.utils import timezone

from accounts.actor import Actor
from accounts.domain.jobs import enqueue
from accounts.scopes import Right
from memoryhub.common.errors import ValidationFailed
from memoryhub.common.llm import language_model
from spaces.domain.access import access_space
from spaces.domain.dreams.briefs import choose_input
from spaces.domain.dreams.lane import CLUSTER, DREAMING, THINK
from spaces.domain.dreams.runs import await_result, begin, lock_dreams, open_run
from spaces.domain.dreams.thinking import NO_MODEL
from spaces.models import DreamRun, Space


@transaction.atomic
def start_dream(actor: Actor) -> DreamRun | None:
    """The run that is open from now on, which may have been so before. None where dreams are off: then
    near-identical memories are looked for, and a run only comes of it if there are some."""
    space = access_space(actor, right=Right.WRITE)
    lock_dreams(space)
    if run := open_run(space, timezone.now()):
        return run
    if space.dream_mode == "off":
        enqueue(CLUSTER, space.account_id, space.id, lane=DREAMING)
        return None
    return _begin(actor, space)


def _begin(actor: Actor, space: Space) -> DreamRun:
    by_server = space.dream_mode == "server"
    if by_server and not language_model():
        raise ValidationFailed({"mode": [NO_MODEL]})
    chosen = choose_input(space)
    if not chosen.input:
        raise ValidationFailed({"memories": ["Nothing is remembered here that a dream could tidy."]})
    run = begin(actor, space, thinker="server" if by_server else "client", chosen=chosen)
    if by_server:
        enqueue(THINK, space.account_id, run.id, lane=DREAMING)
    else:
        await_result(actor, run)
    return run
