"""What became of an action, from its events, with the people and keys by their names."""

from dataclasses import dataclass
from datetime import datetime

from accounts.domain.names import names_of
from accounts.models import Event
from actions.models import Action, Approval, Status


@dataclass(frozen=True)
class Line:
    """`kind` is the event's type without `action.`; `reason` is what the person or the system gave for it."""

    at: datetime
    kind: str
    who: str
    is_person: bool
    reason: str = ""


def history(action: Action) -> list[Line]:
    """Oldest first. Three queries, and one for the reasons."""
    events = list(
        Event.objects.filter(account_id=action.account_id, object_id=action.uid).order_by("at", "id")
    )
    names = names_of(action.account_id, {e.actor for e in events})
    reasons = _reasons(action)
    return [
        Line(e.at, kind, names[e.actor], e.actor.startswith("person:"), reasons.get(kind, ""))
        for e in events
        if (kind := e.type.removeprefix("action."))
    ]


def _reasons(action: Action) -> dict[str, str]:
    """By status: those of decisions, and the one it ended with."""
    decisions = Approval.objects.filter(account_id=action.account_id, action_id=action.id)
    status = {"approve": Status.APPROVED, "reject": Status.REJECTED}
    given = {str(status[d.decision]): d.reason for d in decisions if d.voided_at is None}
    return given | ({action.status: action.reason} if action.reason else {})
