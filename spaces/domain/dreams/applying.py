"""Applying changes: one by one, each whole or not at all, in the caller's transaction."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db import IntegrityError, transaction
from django.utils import timezone

from accounts.actor import Actor
from accounts.domain.events import record_event, record_events
from memoryhub.common.errors import Conflict, HubError, QuotaExceeded, ValidationFailed
from memoryhub.common.ids import typed_id
from spaces.domain.dreams.images import Image, Mark, image_of, mark_of
from spaces.domain.dreams.rules import Ground, Skip, check, promotes, removes
from spaces.domain.dreams.shape import Proposed
from spaces.domain.embeddings.pending import embed_later
from spaces.domain.memories.access import lock_memories
from spaces.domain.memories.changing import IDENTITY, assign, change
from spaces.domain.memories.core import check_core_room, lock_core
from spaces.domain.memories.expiry import expire_later, expiry_after
from spaces.domain.memories.fields import LABELS, Place, cleaned, union
from spaces.domain.memories.identity import identity_of
from spaces.domain.search.indexing import index_fields
from spaces.models import DreamChange, DreamRun, Memory, Space
from spaces.models.memories import TIERS, TRUSTS

SPARED = 200


@dataclass
class Outcome:
    """What became of one change: skipped for a reason, or applied."""

    change: Proposed
    skip: Skip | None = None
    made: Memory | None = None
    touched: Sequence[Memory] = ()
    before: list[Image] = field(default_factory=list)
    after: list[Mark] = field(default_factory=list)


@dataclass(frozen=True)
class Hand:
    """Who changes what, where and when. `trust` is the most that a text written so is trusted."""

    actor: Actor
    place: Place
    trust: str = "agent"

    @property
    def now(self) -> datetime:
        return self.place.now

    def trusted(self, memories: Iterable[Memory]) -> str:
        """Never more than any of the sources."""
        return min([self.trust, *(memory.trust for memory in memories)], key=TRUSTS.index)


def apply(run: DreamRun, space: Space, hand: Hand, changes: Sequence[Proposed]) -> list[Outcome]:
    """Each change in its order, under the rules. Rows are locked first, so that what happened meanwhile wins."""
    lock_core(space.account_id, space.id)
    ground = _ground(run, space)
    return [_attempt(change, ground, hand) for change in changes]


def _ground(run: DreamRun, space: Space) -> Ground:
    known = {UUID(id): tuple(mark) for id, mark in run.input.items()}
    rows = Memory.objects.live().filter(account_id=run.account_id, space_id=space.id, id__in=list(known))
    lock_memories(rows)
    found = {memory.id: memory for memory in rows}
    for memory in found.values():
        memory.space = space
    return Ground(known, found, heirlooms_of(run.account_id, list(found)), run.max_changes)


def heirlooms_of(account_id: UUID, ids: Sequence[UUID]) -> dict[UUID, list[str]]:
    """Memory → what the user said that it took over, by merges of merges too."""
    sources: dict[UUID, list[UUID]] = {}
    left = list(ids)
    while left:
        merges = DreamChange.objects.filter(account_id=account_id, op="merge", state="applied", made__in=left)
        found = {made: memories for made, memories in merges.values_list("made", "memories") if made}
        sources |= found
        left = [id for memories in found.values() for id in memories if id not in sources]
    everything = {id for memories in sources.values() for id in memories}
    said = Memory.objects.filter(account_id=account_id, id__in=everything, origin="user")
    texts = dict(said.values_list("id", "text"))

    def below(id: UUID) -> list[str]:
        return [
            text for one in sources.get(id, []) for text in ([texts[one]] if one in texts else below(one))
        ]

    return {id: held for id in ids if (held := below(id))}


def _attempt(proposed: Proposed, ground: Ground, hand: Hand) -> Outcome:
    checked = check(proposed, ground)
    if isinstance(checked, Skip):
        return Outcome(proposed, skip=checked)
    counts = removes(proposed), promotes(proposed, checked)
    try:
        with transaction.atomic():
            outcome = _apply(proposed, checked, hand)
    except HubError as refusal:
        for memory in checked:  # what was set on the way is undone in the database alone
            memory.refresh_from_db()
        return Outcome(proposed, skip=_skip_for(refusal))
    ground.removed += counts[0]
    ground.promoted += counts[1]
    ground.touched |= {memory.id for memory in outcome.touched}
    return outcome


def _skip_for(refusal: HubError) -> Skip:
    if isinstance(refusal, QuotaExceeded):
        return Skip("core_full", "The core tier of this space is full.")
    if isinstance(refusal, Conflict):
        return Skip("duplicate", "Another memory says this already.")
    return Skip("invalid", refusal.message[:300])


def _apply(proposed: Proposed, memories: Sequence[Memory], hand: Hand) -> Outcome:
    fields = cleaned(proposed.fields, hand.place)
    touched = () if proposed.op == "add" else memories
    before = [image_of(memory) for memory in touched]
    made = STEPS[proposed.op](memories, fields, hand)
    after = [mark_of(memory) for memory in (*touched, *([made] if made else []))]
    return Outcome(proposed, made=made, touched=touched, before=before, after=after)


def _merge(memories: Sequence[Memory], fields: Mapping[str, Any], hand: Hand) -> Memory:
    made = _composed(memories, {**_shared(memories), **fields}, hand)
    for memory in memories:
        _set_aside(memory, hand.now, status="superseded", superseded_by_id=made.id)
    _insert(made, hand)
    _tell(hand.actor, "memory.superseded", memories)
    return made


def _shared(memories: Sequence[Memory]) -> dict[str, Any]:
    """What a merged memory has of its sources, unless the change says otherwise."""
    subjects = {memory.subject for memory in memories}
    refs = {memory.source_ref for memory in memories}
    ends = [memory.expires_at for memory in memories]
    return {
        "kind": memories[0].kind,
        "path": memories[0].path,
        "subject": subjects.pop() if len(subjects) == 1 else "",
        "source_ref": refs.pop() if len(refs) == 1 else "",
        "tier": max((memory.tier for memory in memories), key=TIERS.index),
        "tags": union(*(memory.tags for memory in memories))[:LABELS],
        "topics": union(*(memory.topics for memory in memories))[:SPARED],
        "links": union(*(memory.links for memory in memories))[:SPARED],
        "metadata": {name: value for memory in memories for name, value in memory.metadata.items()},
        "importance": max(memory.importance for memory in memories),
        "occurred_at": max(memory.occurred_at for memory in memories),
        "expires_at": None if None in ends else max(end for end in ends if end),
        "seen_count": sum(memory.seen_count for memory in memories),
        "recall_count": sum(memory.recall_count for memory in memories),
    }


def _update(memories: Sequence[Memory], fields: Mapping[str, Any], hand: Hand) -> None:
    trust = {"trust": hand.trusted(memories)} if "text" in fields else {}
    _change(memories[0], {**fields, **trust}, hand)


def _retier(memories: Sequence[Memory], fields: Mapping[str, Any], hand: Hand) -> None:
    _change(memories[0], {**expiry_after(memories[0], dict(fields), hand.place), **fields}, hand)


def _expire(memories: Sequence[Memory], fields: Mapping[str, Any], hand: Hand) -> None:
    if fields["expires_at"] is None:
        raise ValidationFailed({"expires_at": ["Must be a time in the future."]})
    _change(memories[0], fields, hand)


def _change(memory: Memory, fields: Mapping[str, Any], hand: Hand) -> None:
    if not change(hand.actor, memory, fields, hand.now):
        raise ValidationFailed({"change": ["It changes nothing."]})


def _drop(memories: Sequence[Memory], fields: Mapping[str, Any], hand: Hand) -> None:
    """A tombstone: out of every path at once, and gone for good only when it can't be undone any more."""
    _set_aside(memories[0], hand.now, status="dropped")
    _tell(hand.actor, "memory.deleted", memories)


def _add(memories: Sequence[Memory], fields: Mapping[str, Any], hand: Hand) -> Memory:
    made = _composed(memories, dict(fields), hand)
    _insert(made, hand)
    return made


def _composed(memories: Sequence[Memory], fields: dict[str, Any], hand: Hand) -> Memory:
    """Model-made: never the user's words, never pinned, never trusted more than what it comes from."""
    place = hand.place
    if fields.get("tier") == "scratch" and not fields.get("expires_at"):
        fields["expires_at"] = expiry_after(Memory(tier="long"), {"tier": "scratch"}, place)["expires_at"]
    made = Memory(
        account_id=place.account_id,
        space=place.space,
        **{"occurred_at": place.now, **fields},
        trust=hand.trusted(memories),
        origin="agent",
        pinned=False,
        written_by=hand.actor.key,
        created_at=place.now,
        updated_at=place.now,
        last_seen_at=place.now,
    )
    assign(made, {"identity": identity_of(made), **index_fields(made, place.space)})
    return made


def _insert(memory: Memory, hand: Hand) -> None:
    try:
        with transaction.atomic():
            memory.save(force_insert=True)
    except IntegrityError as error:
        if IDENTITY in str(error):
            raise Conflict("Another memory says this already.") from None
        raise
    if memory.tier == "core":
        check_core_room(memory)
    expire_later(memory)
    embed_later([memory])
    record_event(hand.actor, "memory.created", "memory", typed_id("mem", memory.id), space_id=memory.space_id)


def _set_aside(memory: Memory, now: datetime, **fields: Any) -> None:
    assign(memory, {**fields, "updated_at": now})
    memory.save(update_fields=[*fields, "updated_at"])


def _tell(actor: Actor, type: str, memories: Sequence[Memory]) -> None:
    record_events(actor, type, "memory", {typed_id("mem", m.id): m.space_id for m in memories})


Step = Callable[[Sequence[Memory], Mapping[str, Any], Hand], Memory | None]
STEPS: dict[str, Step] = {
    "merge": _merge,
    "update": _update,
    "retier": _retier,
    "expire": _expire,
    "drop": _drop,
    "add": _add,
}


def hand_of(actor: Actor, space: Space, *, trust: str = "agent") -> Hand:
    return Hand(actor, Place(space.account_id, space, timezone.now()), trust)
