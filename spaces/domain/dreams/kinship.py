"""Which memories say what another one says because a dream made one of the other."""

from collections.abc import Collection, Iterable
from uuid import UUID

from django.utils import timezone

from accounts.actor import Actor
from accounts.domain.events import record_events
from memoryhub.common.ids import typed_id
from spaces.models import DreamChange, Memory
from spaces.models.dreams import DreamChangeQuerySet


def dream_kin(account_id: UUID, ids: Collection[UUID], *, named: Iterable[UUID]) -> list[Memory]:
    """What was made of these memories, and what those of them that are named were merged from."""
    kin = _made_of(account_id, ids) | _merged_into(account_id, named)
    return list(Memory.objects.filter(account_id=account_id, id__in=kin - set(ids)).order_by("id"))


def revive_sources(actor: Actor, erased: Collection[UUID]) -> None:
    """Where a merged memory goes because of one of its sources, the others say again what they said."""
    sources = _sources(actor.account_id, erased) - set(erased)
    rows = Memory.objects.filter(account_id=actor.account_id, id__in=sources, superseded_by_id__in=erased)
    for memory in rows.order_by("id").select_for_update(no_key=True):
        if not Memory.objects.identical_to(memory).exists():
            memory.status, memory.superseded_by_id, memory.updated_at = "active", None, timezone.now()
            memory.save(update_fields=["status", "superseded_by", "updated_at"])
            told = {typed_id("mem", memory.id): memory.space_id}
            record_events(actor, "memory.updated", "memory", told)


def _made_of(account_id: UUID, ids: Iterable[UUID]) -> set[UUID]:
    found: set[UUID] = set()
    left = set(ids)
    while left:
        changes = _applied(account_id).filter(made__isnull=False, memories__overlap=list(left))
        left = {made for made in changes.values_list("made", flat=True) if made} - found
        found |= left
    return found


def _merged_into(account_id: UUID, ids: Iterable[UUID]) -> set[UUID]:
    found: set[UUID] = set()
    left = set(ids)
    while left:
        left = _sources(account_id, left) - found
        found |= left
    return found


def _sources(account_id: UUID, made: Iterable[UUID]) -> set[UUID]:
    merges = _applied(account_id).filter(op="merge", made__in=list(made))
    return {id for memories in merges.values_list("memories", flat=True) for id in memories}


def _applied(account_id: UUID) -> DreamChangeQuerySet:
    return DreamChange.objects.filter(account_id=account_id, state="applied")
