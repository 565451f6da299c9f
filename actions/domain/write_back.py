"""Write-backs: what another dialect calls sending is here a proposal, of the right class and in its form."""

from typing import Any

from django.db import transaction
from django.utils import timezone

from accounts.actor import Actor
from accounts.scopes import Right
from actions.domain.proposals import Proposal, check_content, lock_space, propose_action
from actions.models import Action
from memoryhub.common.ids import new_id
from memoryhub.common.text import excerpt
from spaces.domain.access import access_space

SUMMARY = 500


@transaction.atomic
def propose_write_back(actor: Actor, class_name: str, summary: str, payload: dict[str, Any]) -> Proposal:
    """The same payload from the same credential, while it still waits, is the same action."""
    space = lock_space(access_space(actor, right=Right.WRITE))
    waiting = (
        Action.objects.inside(space)
        .with_current()
        .filter(
            proposer=actor.key,
            class_name=class_name,
            content=check_content(class_name, payload),
            status="pending",
            expires_at__gt=timezone.now(),
        )
    )
    if existing := waiting.first():
        return Proposal(existing, created=False)
    return propose_action(
        actor,
        class_name=class_name,
        summary=excerpt(summary, SUMMARY),
        payload=payload,
        idempotency_key=f"write-back:{new_id().hex}",
    )
