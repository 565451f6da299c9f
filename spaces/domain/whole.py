"""Rows that go whole, with whatever hangs on them: for kinds of which nothing else has to follow."""

from collections.abc import Sequence
from typing import Any
from uuid import UUID

from accounts.actor import Actor
from accounts.domain.events import record_events
from accounts.models import Tenant
from accounts.scopes import Right
from memoryhub.common.ids import typed_id
from spaces.domain.access import require_right


def erase_rows(
    model: type[Tenant], prefix: str, event: tuple[str, str], actor: Actor, ids: Sequence[UUID]
) -> int:
    """In the caller's transaction. `event` is its type and the noun of what it happens to."""
    manager: Any = model._default_manager
    rows = manager.filter(account_id=actor.account_id, id__in=ids)
    found = list(rows.order_by("id").select_related("space").select_for_update(of=("self",)))
    for space in {row.space_id: row.space for row in found}.values():
        require_right(actor, space, Right.WRITE)
    rows.delete()
    type, noun = event
    record_events(actor, type, noun, {typed_id(prefix, row.id): row.space_id for row in found})
    return len(found)
