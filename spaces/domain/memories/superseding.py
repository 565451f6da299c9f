"""One memory takes the place of others, which stay, out of the way and with a pointer to it."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from uuid import UUID

from django.db import connection
from django.db.models import Q

from accounts.actor import Actor
from accounts.domain.events import record_event
from memoryhub.common.errors import ValidationFailed
from memoryhub.common.ids import typed_id
from spaces.domain.memories.changing import assign, keep_version
from spaces.models import Memory

SUPERSEDED, RESOLVED = "superseded", "resolved"


def supersede(actor: Actor, old: Memory, new: Memory, now: datetime) -> str:
    """What became of the old one, which is locked: an answered question and a handoff that is done are resolved,
    everything else is superseded. "" if this very thing was done before. Only an active memory can be, so that no
    chain ends where it began."""
    status = _status_after(old, new)
    pointer = f"{status}_by_id"
    if old.status == status and getattr(old, pointer) == new.id:
        return ""
    if old.status != "active" or old.id == new.id:
        raise ValidationFailed(
            {"supersedes": ["Must be active, and another one. Name the one that holds now."]}
        )
    keep_version(old)
    assign(old, {"status": status, pointer: new.id, "version": old.version + 1})
    assign(old, {"updated_at": now, "written_by": actor.key})
    old.save(update_fields=["status", pointer, "version", "updated_at", "written_by"])
    record_event(actor, "memory.superseded", "memory", typed_id("mem", old.id), space_id=old.space_id)
    return status


def _status_after(old: Memory, new: Memory) -> str:
    answered = old.kind == "question" or (old.kind == "handoff" and new.kind == "done")
    return RESOLVED if answered else SUPERSEDED


# By hand: most lists hold nothing of the kind, and the whole question costs more than many a search.
TOOK_A_PLACE = """
    select 1 from spaces_memory where account_id = %(account)s and superseded_by_id = any(%(ids)s)
    union all
    select 1 from spaces_memory where account_id = %(account)s and resolved_by_id = any(%(ids)s) limit 1
"""


@dataclass
class Chain:
    """What a memory took the place of, and what took its place."""

    supersedes: list[UUID] = field(default_factory=list)
    resolves: list[UUID] = field(default_factory=list)
    superseded_by: UUID | None = None
    resolved_by: UUID | None = None


def _took_a_place(actor: Actor, ids: list[UUID]) -> bool:
    with connection.cursor() as cursor:
        cursor.execute(TOOK_A_PLACE, {"account": actor.account_id, "ids": ids})
        return bool(cursor.fetchone())


def chains_of(actor: Actor, memories: Sequence[Memory]) -> dict[UUID, Chain]:
    """The pointers both ways, to what the actor sees."""
    chains = {memory.id: Chain() for memory in memories}
    ahead = {id for memory in memories for id in (memory.superseded_by_id, memory.resolved_by_id) if id}
    if not ahead and not _took_a_place(actor, list(chains)):
        return chains
    beside = Q(id__in=ahead) | Q(superseded_by_id__in=list(chains)) | Q(resolved_by_id__in=list(chains))
    rows = Memory.objects.visible_to(actor).live().filter(beside).order_by("created_at", "id")
    seen = set()
    for id, superseded_by, resolved_by in rows.values_list("id", "superseded_by_id", "resolved_by_id"):
        seen.add(id)
        if superseded_by in chains:
            chains[superseded_by].supersedes.append(id)
        if resolved_by in chains:
            chains[resolved_by].resolves.append(id)
    for memory in memories:
        chain = chains[memory.id]
        chain.superseded_by = memory.superseded_by_id if memory.superseded_by_id in seen else None
        chain.resolved_by = memory.resolved_by_id if memory.resolved_by_id in seen else None
    return chains
