"""Quarantine: what an agent wrote that speaks to agents is held, out of every path, until a person has read it."""

from collections.abc import Mapping
from typing import Any
from uuid import UUID

from django.db import transaction
from django.utils import timezone

from accounts.actor import Actor
from accounts.domain.events import record_event
from accounts.scopes import Right
from memoryhub.common.errors import Conflict, Forbidden, NotFound
from memoryhub.common.ids import parse_id, typed_id
from memoryhub.common.paging import Page, page_of
from memoryhub.common.screening import reasons_to_hold
from memoryhub.common.secrets import marked
from memoryhub.common.secrets.policy import QUARANTINE
from spaces.domain.access import access_space, require_right
from spaces.domain.embeddings.pending import embed_later
from spaces.domain.memories.core import check_core_room, lock_core
from spaces.domain.memories.expiry import expire_later
from spaces.domain.memories.fields import told
from spaces.models import Memory, Space

HELD, ACTIVE = "quarantined", "active"
SECRETS, BY_HAND = "secrets", "by hand"
SAID_BY = ("agent", "session", "agent_instance", "device_label")


def reasons_of(memory: Memory, *, earlier: object = ()) -> list[str]:
    """Why this memory is held, by all that is told of it: whose word it is too, wherever that was named, and what
    it said `earlier`."""
    said_by = {name: getattr(memory, name) for name in SAID_BY}
    return reasons_for({**told(memory), **said_by, "earlier": earlier}, memory.space, memory.trust)


def reasons_for(given: Mapping[str, Any], space: Space | None, trust: str) -> list[str]:
    """Why what was given for a memory is held. What a person wrote in a browser is not."""
    if trust in ("person", "reviewed"):
        return []
    secret = space is not None and space.secret_policy == QUARANTINE and marked(dict(given))
    return [*reasons_to_hold(dict(given)), *([SECRETS] if secret else [])]


def see_held_again(memory: Memory) -> Memory | None:
    """The same text again makes no second row to read."""
    same = Memory.objects.filter(account_id=memory.account_id, identity=memory.identity, status=HELD)
    twin = same.select_for_update(no_key=True).order_by("id").first()
    if twin:
        twin.seen_count, twin.last_seen_at = twin.seen_count + 1, memory.last_seen_at
        twin.save(update_fields=["seen_count", "last_seen_at"])
    return twin


def list_held(actor: Actor, *, size: int = 50, cursor: str | None = None) -> Page[Memory]:
    """Those of the space, and of the account as a whole; newest first. For people only."""
    space = _reviewing(actor)
    return page_of(
        Memory.objects.visible_to(actor)
        .reached_from(space)
        .unexpired()
        .filter(status=HELD)
        .select_related("space"),
        token=cursor,
        size=size,
        field="page",
        actor_key=actor.key,
        filters={"list": "held memories", "space": space.id},
    )


def count_held(actor: Actor, space: Space) -> int:
    return Memory.objects.visible_to(actor).reached_from(space).unexpired().filter(status=HELD).count()


@transaction.atomic
def release_memory(actor: Actor, id: str | UUID) -> Memory:
    """A person has read it: from now on it is found like any other of its standing, as reviewed."""
    memory = _held(actor, id)
    lock_core(memory.account_id, memory.space_id)
    memory.status, memory.held_for, memory.updated_at = _standing(memory), [], timezone.now()
    memory.trust, memory.version = "reviewed", memory.version + 1
    if memory.status == ACTIVE and Memory.objects.identical_to(memory).exists():
        raise Conflict("Another memory says this already. Forget this one instead.")
    memory.save(update_fields=["status", "held_for", "trust", "version", "updated_at"])
    if memory.tier == "core" and memory.status == ACTIVE:
        check_core_room(memory)
    expire_later(memory)
    embed_later([memory])
    record_event(actor, "memory.updated", "memory", typed_id("mem", memory.id), space_id=memory.space_id)
    return memory


def _standing(memory: Memory) -> str:
    """What came in a file may have been replaced there already."""
    if memory.superseded_by_id:
        return "superseded"
    return "resolved" if memory.resolved_by_id else ACTIVE


@transaction.atomic
def hold_memory(actor: Actor, id: str | UUID) -> Memory:
    """Out of every path by a person's hand."""
    _reviewing(actor)
    memory = _found(actor, id, ACTIVE)
    memory.status, memory.held_for = HELD, [BY_HAND]
    memory.save(update_fields=["status", "held_for"])
    record_event(actor, "memory.updated", "memory", typed_id("mem", memory.id), space_id=memory.space_id)
    return memory


def _held(actor: Actor, id: str | UUID) -> Memory:
    _reviewing(actor)
    return _found(actor, id, HELD)


def _found(actor: Actor, id: str | UUID, status: str) -> Memory:
    rows = Memory.objects.visible_to(actor).unexpired().filter(status=status)
    memory = (
        rows.select_related("space").select_for_update(of=("self",)).filter(id=parse_id("mem", id)).first()
    )
    if memory is None:
        raise NotFound("memory")
    require_right(actor, memory.space, Right.WRITE)
    return memory


def _reviewing(actor: Actor) -> Space:
    """No key decides about what it or another key wrote."""
    if not actor.is_person:
        raise Forbidden("Only a person, in a browser, sees what is held and decides about it.")
    return access_space(actor)
