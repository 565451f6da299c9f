"""Which moves there are between the states of an action, and who may make each."""

from collections.abc import Callable

from django.utils import timezone

from accounts.actor import AGENTS, Actor
from accounts.scopes import ROLE_RIGHTS, Right, Scope
from actions.domain.describe import page_url
from actions.models import Action, Status
from memoryhub.common.errors import Forbidden, InvalidTransition
from spaces.domain.access import require_right, role_in

Guard = Callable[[Actor, Action], None]


def must_decide(actor: Actor, action: Action) -> None:
    """A person in a browser session, with the right to decide here, and not on what they proposed themselves."""
    if not actor.is_person:
        raise Forbidden(
            "Only a person can decide on an action, in a browser. Ask the owner to open approve_url.",
            approve_url=page_url(action),
        )
    require_right(actor, action.space, Right.DECIDE)
    if actor.key == action.proposer:
        raise Forbidden("You proposed this action yourself: somebody else has to decide on it.")


def must_be_proposer_or_decide(actor: Actor, action: Action) -> None:
    if actor.key == action.proposer:
        require_right(actor, action.space, Right.WRITE)
    elif not may_decide(actor, action):
        raise Forbidden("Only who proposed this action, or a person who may decide on it, can cancel it.")


def must_execute(actor: Actor, action: Action) -> None:
    """An agent with the scope, for a person who may write here; or our own worker, where that is the executor."""
    if action.executor == "worker":
        if actor.kind != "system":
            raise Forbidden("Memory Hub itself carries this action out, once it is approved.")
        return
    if actor.kind not in AGENTS:
        raise Forbidden("Only an agent with the scope actions:execute carries actions out.")
    if Scope.ACTIONS_EXECUTE not in actor.scopes:
        raise Forbidden(
            "This credential lacks the scope actions:execute.", missing_scopes=[str(Scope.ACTIONS_EXECUTE)]
        )
    require_right(actor, action.space, Right.WRITE)


def must_execute_or_decide(actor: Actor, action: Action) -> None:
    if not may_decide(actor, action):
        must_execute(actor, action)


def must_be_system(actor: Actor, action: Action) -> None:
    if actor.kind != "system":
        raise Forbidden("Only Memory Hub itself makes this move.")


def may_finish(actor: Actor, action: Action) -> bool:
    """Who claimed it tells how it ended; a person who may decide here can settle it as failed."""
    return actor.key == action.claimed_by or may_decide(actor, action)


def may_decide(actor: Actor, action: Action) -> bool:
    return actor.is_person and Right.DECIDE in ROLE_RIGHTS[role_in(actor, action.space)]


MOVES: dict[tuple[str, str], Guard] = {
    (Status.PENDING, Status.APPROVED): must_decide,
    (Status.PENDING, Status.REJECTED): must_decide,
    (Status.PENDING, Status.EXPIRED): must_be_system,
    (Status.PENDING, Status.CANCELLED): must_be_proposer_or_decide,
    (Status.APPROVED, Status.EXECUTING): must_execute,
    (Status.APPROVED, Status.FAILED): must_be_system,
    (Status.APPROVED, Status.EXPIRED): must_be_system,
    (Status.APPROVED, Status.CANCELLED): must_be_proposer_or_decide,
    (Status.EXECUTING, Status.DONE): must_execute,
    (Status.EXECUTING, Status.FAILED): must_execute_or_decide,
}


def targets(status: str) -> list[str]:
    """Where an action can go from here, whoever moves it."""
    return [str(to) for start, to in MOVES if start == status]


def moves_open_to(actor: Actor, action: Action) -> list[str]:
    """Where this actor could move it now."""
    status = action.status_at(timezone.now())
    return [to for to in targets(status) if _lets(actor, action, status, to)]


def check_pair(start: str, to: str) -> None:
    if (start, to) in MOVES:
        return
    allowed = targets(start)
    said = f"From there it can become {', '.join(allowed)}." if allowed else "That is its end."
    raise InvalidTransition(
        f"An action can't go from {start} to {to}. {said}", **{"from": start, "to": to, "allowed": allowed}
    )


def _lets(actor: Actor, action: Action, start: str, to: str) -> bool:
    try:
        MOVES[start, to](actor, action)
    except Forbidden:
        return False
    return start != Status.EXECUTING or may_finish(actor, action)
