"""What has to be known of a vendor before a person may decide: which connection, and what a payload's names mean.

It is asked once, before; what is found becomes a revision, so that it is shown, hashed and consented to.
"""

from dataclasses import dataclass
from datetime import timedelta
from typing import Any
from uuid import UUID

from django.utils import timezone

from accounts.actor import system_actor
from actions.connectors import CONNECTORS, Connector
from actions.connectors.answers import NotSent, Refused, SignedOut, Trouble, Unclear
from actions.connectors.base import Unresolvable
from actions.domain.connections import connection_for, note_health
from actions.domain.inbox import announce
from actions.domain.revising import add_revision
from actions.domain.tokens import asking_by
from actions.domain.transitions import apply_rules
from actions.models import Action, Connection, Status
from memoryhub.common.errors import HubError
from memoryhub.common.keyring import KeyringFault
from memoryhub.common.tenancy import tenant

AGAIN = timedelta(seconds=20)
DOUBT = 300


@dataclass(frozen=True)
class Question:
    """An action that lacks something, and how to ask for it."""

    account_id: UUID
    action_id: UUID
    revision: int
    connector: Connector
    connection: Connection
    payload: dict[str, Any]


def prepare_action(account_id: UUID, action_id: UUID) -> timedelta | None:
    """Ask, and add what is found. Answers when to try again, or None when there is nothing left to ask."""
    with tenant(account_id):
        question = _question(account_id, action_id)
    if question is None:
        return None
    try:
        payload = _answered(question)
    except KeyringFault:
        raise
    except (Unresolvable, HubError) as fault:
        _say(question, str(fault))
    except SignedOut as trouble:
        _say(question, "The connection is not accepted any more. Connect it anew.", trouble)
    except Refused as trouble:
        _say(question, f"The vendor refuses to say where this leads ({trouble.reason}).")
    except (NotSent, Unclear) as trouble:
        wait = getattr(trouble, "retry_after", None)
        return timedelta(seconds=wait) if wait else AGAIN
    else:
        _keep(question, payload)
    return None


def _question(account_id: UUID, action_id: UUID) -> Question | None:
    action = _pending(account_id, action_id)
    connection = connection_for(account_id, action.class_name) if action else None
    if action is None or connection is None:
        return None
    connector, revision = CONNECTORS[action.class_name], action.current
    if revision.connection_id == connection.id and not connector.unresolved(revision.payload):
        return None
    return Question(account_id, action_id, revision.number, connector, connection, revision.payload)


def _answered(question: Question) -> dict[str, Any]:
    connector, payload = question.connector, question.payload
    if not connector.unresolved(payload):
        return payload
    return connector.resolve(asking_by(question.connection, connector.service), payload)


def _keep(question: Question, payload: dict[str, Any]) -> None:
    with tenant(question.account_id):
        action = _locked(question)
        if action is not None:
            connection = connection_for(question.account_id, action.class_name)
            add_revision(system_actor(question.account_id), action, payload, connection)
            apply_rules(question.account_id, question.action_id)


def _say(question: Question, doubt: str, trouble: Trouble | None = None) -> None:
    with tenant(question.account_id):
        if trouble:
            note_health(question.connection, trouble.reason)
        action = _locked(question)
        if action is not None:
            rows = Action.objects.filter(account_id=action.account_id, id=action.id)
            rows.update(doubt=doubt[:DOUBT], updated_at=timezone.now())
            announce(action.space_id, action.account_id)


def _pending(account_id: UUID, action_id: UUID) -> Action | None:
    rows = Action.objects.filter(
        account_id=account_id, id=action_id, status=Status.PENDING, executor="worker"
    )
    return rows.filter(expires_at__gt=timezone.now()).with_current().first()


def _locked(question: Question) -> Action | None:
    """The action, unless it has moved on, another revision came, or the connection is gone."""
    rows = Action.objects.filter(account_id=question.account_id, id=question.action_id)
    if not rows.select_for_update(no_key=True).values_list("id"):
        return None
    action = _pending(question.account_id, question.action_id)
    standing = connection_for(question.account_id, action.class_name) if action else None
    if action is None or action.revision != question.revision or standing is None:
        return None
    return action if standing.id == question.connection.id else None
