"""May this actor touch that memory? One in no space belongs to the account as a whole."""

from collections.abc import Iterable
from uuid import UUID

from django.utils import timezone

from accounts.actor import Actor
from accounts.scopes import Right
from memoryhub.common.errors import Forbidden, NotFound
from memoryhub.common.ids import parse_id
from spaces.domain.access import access_space, require_right
from spaces.domain.memories.fields import Place
from spaces.models import Memory, Space
from spaces.models.memories import MemoryQuerySet


def access_memory(actor: Actor, id: str | UUID) -> Memory:
    return _found(Memory.objects.visible_to(actor).live().select_related("space"), id)


def lock_memory(actor: Actor, id: str | UUID) -> Memory:
    """The memory, which the actor may change, until the transaction ends."""
    memory = _found(_locked(Memory.objects.visible_to(actor).live()), id)
    require_write(actor, memory.space)
    return memory


def named_memories(actor: Actor, ids: Iterable[str]) -> dict[str, Memory]:
    """Id as it was given → the memory. Those that the actor doesn't see are absent."""
    parsed = {id: _parsed(id) for id in ids}
    rows = Memory.objects.visible_to(actor).live().select_related("space")
    found = rows.in_bulk([id for id in parsed.values() if id])
    return {given: found[id] for given, id in parsed.items() if id in found}


def _parsed(id: str) -> UUID | None:
    try:
        return parse_id("mem", id)
    except NotFound:
        return None


def lock_memories(rows: MemoryQuerySet) -> list[UUID]:
    """Many at once, always in the order of ids: of two who lock some of the same, one waits for the other."""
    return list(rows.order_by("id").select_for_update(no_key=True).values_list("id", flat=True))


def require_write(actor: Actor, space: Space | None) -> None:
    """What belongs to the account as a whole isn't changed by a key that is held to some spaces."""
    if space is None and actor.space_ids is not None:
        raise Forbidden("This key is limited to its spaces and may not change what belongs to the account.")
    require_right(actor, space, Right.WRITE)


def writing_place(actor: Actor, *, account_wide: bool = False) -> Place:
    space = None if account_wide else access_space(actor, right=Right.WRITE)
    if account_wide:
        require_write(actor, None)
    return Place(actor.account_id, space, timezone.now())


def _locked(rows: MemoryQuerySet) -> MemoryQuerySet:
    return rows.select_related("space").select_for_update(of=("self",), no_key=True)


def _found(rows: MemoryQuerySet, id: str | UUID) -> Memory:
    memory = rows.filter(id=parse_id("mem", id)).first()
    if memory is None:
        raise NotFound("memory")
    return memory
