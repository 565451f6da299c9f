"""Erasing memories: rows, earlier versions and everything derived. Events keep ids only."""

from collections.abc import Sequence

from accounts.actor import Actor
from accounts.domain.events import record_events
from memoryhub.common.ids import typed_id
from spaces.domain.kinds import Trace, scrub_copies
from spaces.models import Memory, MemoryVersion


def erase_memories(actor: Actor, event: str, memories: Sequence[Memory], *, scrub: bool = True) -> None:
    """Those of one account. What pointed at them points at nothing, and no copy of them stays unless it may."""
    ids = [memory.id for memory in memories]
    if scrub and ids:
        scrub_copies(actor, Trace(ids=frozenset(ids)))
    MemoryVersion.objects.filter(memory_id__in=ids).delete()
    Memory.objects.filter(id__in=ids).delete()
    record_events(actor, event, "memory", {typed_id("mem", m.id): m.space_id for m in memories})
