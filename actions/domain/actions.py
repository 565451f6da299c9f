"""Finding actions."""

import re
from collections.abc import Iterable

from django.utils import timezone

from accounts.actor import Actor
from actions.models import OPEN, Action, Attempt, Status, whole
from memoryhub.common.errors import NotFound, ValidationFailed
from memoryhub.common.ids import parse_id
from spaces.domain.access import access_space

SHORT_ID = re.compile(r"[Aa]([1-9][0-9]{0,8})")
LIMIT, MAX_LIMIT = 50, 100


def access_action(actor: Actor, id: str) -> Action:
    """By its short id in the actor's space, or by its typed id in any space the actor reads."""
    actions = Action.objects.with_current()
    if short := SHORT_ID.fullmatch(id):
        found = actions.inside(access_space(actor)).filter(number=int(short[1])).first()
    else:
        found = actions.visible_to(actor).filter(id=parse_id("act", id)).first()
    if found is None:
        raise NotFound("action")
    return found


def list_actions(actor: Actor, *, statuses: Iterable[str] = OPEN, limit: int = LIMIT) -> list[Action]:
    """The newest of the actor's space, by the status that holds now."""
    wanted = check_statuses(statuses)
    if not 1 <= limit <= MAX_LIMIT:
        raise ValidationFailed({"limit": [f"Must be between 1 and {MAX_LIMIT}."]})
    actions = Action.objects.inside(access_space(actor)).in_status(wanted, timezone.now()).with_current()
    return list(whole(actions.order_by("-created_at", "-id")[:limit]))


def list_attempts(action: Action) -> list[Attempt]:
    """Of our worker's, to carry it out; oldest first."""
    attempts = Attempt.objects.filter(account_id=action.account_id, action_id=action.id)
    return list(attempts.select_related("settled_by").order_by("number"))


def check_statuses(statuses: Iterable[str]) -> list[str]:
    wanted = list(statuses)
    if unknown := [s for s in wanted if s not in list(Status)]:
        raise ValidationFailed(
            {"status": [f"{len(unknown)} unknown. Each must be one of {', '.join(Status)}."]}
        )
    return wanted
