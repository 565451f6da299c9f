"""The core tier is always in context, so it stays small."""

from uuid import UUID

from django.db.models import Count, Q, Sum
from django.db.models.functions import Coalesce, Length

from memoryhub.common.errors import QuotaExceeded
from memoryhub.common.ids import typed_id
from memoryhub.common.locks import lock
from spaces.models import Memory
from spaces.models.memories import MemoryQuerySet

CORE_MEMORIES = 60
CORE_CHARACTERS = 12_000
SUGGESTED = 5


def core_of(account_id: UUID, space_id: UUID | None) -> MemoryQuerySet:
    inside = Q(space_id=space_id) if space_id else Q(space_id=None)
    return Memory.objects.active().filter(inside, account_id=account_id, tier="core")


def lock_core(account_id: UUID, space_id: UUID | None) -> None:
    """Until the transaction ends, nobody else fills this core. Taken before any row is locked."""
    lock(f"core:{account_id}:{space_id or ''}")


def check_core_room(memory: Memory) -> None:
    """QuotaExceeded unless this memory, new or changed, fits in with the rest of its core."""
    others = core_of(memory.account_id, memory.space_id).exclude(id=memory.id)
    used = others.aggregate(memories=Count("id"), characters=Coalesce(Sum(Length("text")), 0))
    if used["memories"] + 1 > CORE_MEMORIES:
        raise _full("core_memories", CORE_MEMORIES, used["memories"], others)
    if used["characters"] + len(memory.text) > CORE_CHARACTERS:
        raise _full("core_characters", CORE_CHARACTERS, used["characters"], others)


def _full(quota: str, limit: int, used: int, others: MemoryQuerySet) -> QuotaExceeded:
    demote = [typed_id("mem", id) for id in _least_used(others)]
    way_out = f"Move something to the tier long first, such as {', '.join(demote)}, or" if demote else "So"
    return QuotaExceeded(
        f"tier: The core tier of this space holds at most {CORE_MEMORIES} memories and {CORE_CHARACTERS} "
        f"characters. {way_out} keep this one in the tier long.",
        quota=quota,
        limit=limit,
        used=used,
        demote=demote,
    )


def _least_used(others: MemoryQuerySet) -> list[UUID]:
    order = ("pinned", "importance", "recall_count", "created_at", "id")
    return list(others.order_by(*order).values_list("id", flat=True)[:SUGGESTED])
