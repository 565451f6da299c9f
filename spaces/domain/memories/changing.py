"""Changing a memory: the former state is kept, the version rises, what is derived follows."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any, Unpack
from uuid import UUID

from django.db import IntegrityError, transaction
from django.utils import timezone

from accounts.actor import Actor
from accounts.domain.events import record_event
from memoryhub.common.errors import Conflict
from memoryhub.common.ids import typed_id
from memoryhub.common.paging import Page, page_of
from memoryhub.common.secrets import marked
from spaces.domain.embeddings.pending import embed_later
from spaces.domain.memories.access import access_memory, lock_memory
from spaces.domain.memories.core import check_core_room, lock_core
from spaces.domain.memories.erasing import erase_memories
from spaces.domain.memories.expiry import discard_expired, expire_later, expiry_after
from spaces.domain.memories.fields import Changes, Place, cleaned, told
from spaces.domain.memories.holding import HELD, reasons_for
from spaces.domain.memories.identity import identity_of
from spaces.domain.memories.trust import trust_of
from spaces.domain.search.indexing import index_fields
from spaces.domain.versions import check_version
from spaces.models import Memory, MemoryVersion

IDENTITY = "memory_identity"


@transaction.atomic
def edit_memory(
    actor: Actor, id: str | UUID, *, expected_version: int | None = None, **changes: Unpack[Changes]
) -> Memory:
    """Only what is given changes. Conflict if the memory has moved on, or if another one says the same already."""
    if changes.keys() & {"text", "tier"}:
        lock_core(actor.account_id, access_memory(actor, id).space_id)
    memory = lock_memory(actor, id)
    check_version(memory, expected_version, "memory")
    place = Place(actor.account_id, memory.space, timezone.now())
    fields = cleaned(changes, place)
    if "text" in fields:
        fields["trust"] = trust_of(actor)
    if reasons := reasons_for(fields, memory.space, trust_of(actor)):
        fields |= {"status": HELD, "held_for": reasons}
    change(actor, memory, {**expiry_after(memory, fields, place), **fields}, place.now)
    return memory


@transaction.atomic
def delete_memory(actor: Actor, id: str | UUID, *, expected_version: int | None = None) -> Memory:
    """The row goes, with its earlier versions and all that is derived from it."""
    memory = lock_memory(actor, id)
    check_version(memory, expected_version, "memory")
    erase_memories(actor, "memory.deleted", [memory])
    return memory


def change(actor: Actor, memory: Memory, fields: Mapping[str, Any], now: datetime) -> bool:
    """Sets the fields of a locked memory, and keeps what it was before. Whether there was anything to change."""
    changed = {name: value for name, value in fields.items() if getattr(memory, name) != value}
    if not changed:
        return False
    keep_version(memory)
    written = {"version": memory.version + 1, "updated_at": now, "written_by": actor.key}
    assign(memory, {**changed, **written})
    derived = {
        "identity": identity_of(memory),
        "redactions": marked(told(memory)),
        **index_fields(memory, memory.space),
    }
    assign(memory, derived)
    _save(actor, memory, [*changed, *written, *derived])
    embed_later([memory])
    if memory.tier == "core" and changed.keys() & {"text", "tier"}:
        check_core_room(memory)
    if changed.keys() & {"expires_at", "pinned"}:
        expire_later(memory)
    record_event(actor, "memory.updated", "memory", typed_id("mem", memory.id), space_id=memory.space_id)
    return True


def assign(memory: Memory, fields: Mapping[str, Any]) -> None:
    for name, value in fields.items():
        setattr(memory, name, value)


def keep_version(memory: Memory) -> None:
    MemoryVersion.objects.create(
        account_id=memory.account_id,
        memory=memory,
        version=memory.version,
        data=told(memory),
        written_by=memory.written_by,
        written_at=memory.updated_at,
    )


def list_versions(
    actor: Actor, id: str | UUID, *, size: int = 50, cursor: str | None = None
) -> Page[MemoryVersion]:
    """The earlier versions, newest first."""
    memory = access_memory(actor, id)
    return page_of(
        MemoryVersion.objects.filter(account_id=actor.account_id, memory_id=memory.id),
        token=cursor,
        size=size,
        field="cursor",
        actor_key=actor.key,
        filters={"list": "memory versions", "memory": memory.id},
        order=("-version", "-id"),
    )


def _save(actor: Actor, memory: Memory, names: list[str]) -> None:
    """Unless a live memory says the same already; an expired one makes way."""
    while True:
        try:
            with transaction.atomic():
                return memory.save(update_fields=names)
        except IntegrityError as error:
            if IDENTITY not in str(error):
                raise
        twin = Memory.objects.identical_to(memory).exclude(id=memory.id).select_for_update().first()
        if twin and not twin.expired(memory.updated_at):
            raise Conflict(
                "Another memory says this already. Change that one, or forget one of the two.",
                current={"id": typed_id("mem", twin.id), "version": twin.version},
            )
        if twin:
            discard_expired(actor, twin)
