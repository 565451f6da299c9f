"""A person changes what an action would do. It stays pending, under a new revision and without approvals."""

from typing import Any

from django.db import transaction

from accounts.actor import Actor
from accounts.domain.jobs import enqueue
from actions.connectors import CONNECTORS
from actions.domain.actions import access_action
from actions.domain.connections import connection_for
from actions.domain.consent import check_shown
from actions.domain.lane import ACTIONS, PREPARE
from actions.domain.moves import must_decide
from actions.domain.proposals import PAYLOAD_BYTES, check_size, normalised
from actions.domain.revising import add_revision
from actions.domain.transitions import lock_action
from actions.models import Action, Status
from memoryhub.common.canonical import canonical_json
from memoryhub.common.errors import ValidationFailed
from memoryhub.common.text import check_text
from memoryhub.common.times import zone


def edit_action(actor: Actor, id: str, *, payload: dict[str, Any], digest: str) -> Action:
    """`digest` is of what the person had before them; if that has changed meanwhile nothing is edited."""
    action = access_action(actor, id)
    must_decide(actor, action)
    check_text(payload, "payload")
    edited = normalised(
        action.class_name, check_size(payload, "payload", PAYLOAD_BYTES), zone(action.space.time_zone)
    )
    with transaction.atomic():
        locked = lock_action(action, Status.PENDING, Status.PENDING)
        check_shown(locked, digest)
        if canonical_json(edited).decode() == locked.current.payload_json:
            raise ValidationFailed({"payload": ["Is what it was: nothing was changed."]})
        add_revision(actor, locked, edited, connection_for(locked.account_id, locked.class_name))
        if is_open_question(locked, edited):
            enqueue(PREPARE, action.account_id, action.id, lane=ACTIONS)
    return access_action(actor, action.uid)


def is_open_question(action: Action, payload: dict[str, Any]) -> bool:
    connector = CONNECTORS.get(action.class_name)
    return bool(connector and connector.unresolved(payload))
