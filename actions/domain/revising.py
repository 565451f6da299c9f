"""A new revision of an action: what it would do has changed, so whatever was decided is void."""

from typing import Any

from django.db import transaction
from django.utils import timezone

from accounts.actor import Actor
from actions.domain.digests import consent_digest
from actions.domain.inbox import announce
from actions.domain.notices.telling import tell
from actions.models import Action, ActionRevision, Approval, Connection
from memoryhub.common.canonical import canonical_json


def add_revision(
    actor: Actor, action: Action, payload: dict[str, Any], connection: Connection | None
) -> ActionRevision:
    """On the locked row, which is pending. `payload` is in its class's form."""
    former, now = action.current, timezone.now()
    revision = ActionRevision(
        account_id=action.account_id,
        space_id=action.space_id,
        action=action,
        number=former.number + 1,
        schema_version=former.schema_version,
        connection=connection,
        summary=former.summary,
        payload_json=canonical_json(payload).decode(),
        preconditions_json=former.preconditions_json,
        expires_at=former.expires_at,
        written_by=actor.key,
        created_at=now,
    )
    revision.digest = consent_digest(action, revision)
    with transaction.atomic():
        revision.save(force_insert=True)
        Action.objects.filter(account_id=action.account_id, id=action.id).update(
            revision=revision.number, updated_at=now, doubt=""
        )
        standing = Approval.objects.filter(account_id=action.account_id, action_id=action.id, voided_at=None)
        standing.update(voided_at=now)
        tell(actor, action, "action.revised")
        announce(action.space_id, action.account_id)
    return revision
