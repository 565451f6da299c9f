"""When a memory ends. Every read leaves expired ones out; what is here only clears them away."""

from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from django.utils import timezone

from accounts.actor import Actor, system_actor
from accounts.domain.jobs import enqueue
from spaces.domain.memories.erasing import erase_memories
from spaces.domain.memories.fields import Place
from spaces.models import DreamChange, Memory

EXPIRE = "expire_memory"


def expiry_of(memory: Memory, fields: dict[str, Any], place: Place) -> datetime | None:
    """What was asked for, else what the tier gives."""
    if "expires_at" in fields:
        moment: datetime | None = fields["expires_at"]
        return moment
    return _by_tier(memory.tier, place)


def expiry_after(memory: Memory, fields: dict[str, Any], place: Place) -> dict[str, Any]:
    """What a change of tier does to the expiry unless that is told too. Losing its pin ends no memory at once."""
    tier = fields.get("tier", memory.tier)
    if tier != memory.tier and "scratch" in (tier, memory.tier):
        return {"expires_at": _by_tier(tier, place)}
    unpinned = memory.pinned and not fields.get("pinned", True)
    if unpinned and memory.expires_at and memory.expires_at <= place.now:
        return {"expires_at": place.now + timedelta(days=place.scratch_days)}
    return {}


def expire_later(memory: Memory) -> None:
    if memory.expires_at and not memory.pinned:
        enqueue(EXPIRE, memory.account_id, memory.id, run_after=memory.expires_at)


def discard_expired(actor: Actor, memory: Memory) -> None:
    erase_memories(actor, "memory.deleted", [memory])


def clear_expired(account_id: UUID, id: UUID) -> None:
    """Unless it was kept for longer since: then another job will come; or a dream that can still be undone
    touched it: then it is out of sight, and goes later."""
    now = timezone.now()
    row = Memory.objects.filter(account_id=account_id, id=id).select_for_update(no_key=True).first()
    if row is None or not row.expired(now):
        return
    held = DreamChange.objects.undoable(now).filter(account_id=account_id, memories__contains=[id])
    if until := held.values_list("run__undo_until", flat=True).order_by("-run__undo_until").first():
        enqueue(EXPIRE, account_id, id, run_after=until)
    else:
        discard_expired(system_actor(account_id), row)


def _by_tier(tier: str, place: Place) -> datetime | None:
    return place.now + timedelta(days=place.scratch_days) if tier == "scratch" else None
