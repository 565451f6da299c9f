"""When a run can't be undone any more, what it dropped goes for good."""

from uuid import UUID

from django.utils import timezone

from accounts.actor import system_actor
from spaces.domain.memories.erasing import erase_memories
from spaces.models import DreamRun, Memory


def purge(account_id: UUID, run_id: UUID) -> None:
    """In the account's transaction, once the time to undo is over."""
    run = DreamRun.objects.filter(account_id=account_id, id=run_id, status="applied").first()
    if run is None or run.undo_until is None or run.undo_until > timezone.now():
        return
    drops = run.changes.filter(op="drop", state="applied").values_list("memories", flat=True)
    ids = [id for memories in drops for id in memories]
    rows = Memory.objects.filter(account_id=account_id, id__in=ids, status="dropped").order_by("id")
    erase_memories(system_actor(account_id), "memory.deleted", list(rows.select_for_update()))
