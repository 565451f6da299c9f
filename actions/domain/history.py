"""What became of an action, from its events, with the people and keys by their names."""

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from accounts.models import AgentKey, Event, User
from actions.models import Action, Approval, Status

SYSTEM = "Memory Hub"
GONE = "someone who is gone"


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


def names_of(account_id: UUID, credentials: set[str]) -> dict[str, str]:
    """Actor keys, as events hold them, to names. Only of this account's people and keys."""
    people = User.objects.filter(memberships__account_id=account_id, id__in=_ids(credentials, "person"))
    keys = AgentKey.objects.filter(account_id=account_id, id__in=_ids(credentials, "key"))
    named = {f"person:{p.id}": p.get_full_name() for p in people} | {f"key:{k.id}": k.name for k in keys}
    return {c: SYSTEM if c.startswith("system:") else named.get(c, GONE) for c in credentials}


def _ids(credentials: set[str], kind: str) -> list[UUID]:
    return [UUID(id) for c in credentials for found, _, id in [c.partition(":")] if found == kind]


def _reasons(action: Action) -> dict[str, str]:
    """By status: those of decisions, and the one it ended with."""
    decisions = Approval.objects.filter(account_id=action.account_id, action_id=action.id)
    status = {"approve": Status.APPROVED, "reject": Status.REJECTED}
    given = {str(status[d.decision]): d.reason for d in decisions if d.voided_at is None}
    return given | ({action.status: action.reason} if action.reason else {})
