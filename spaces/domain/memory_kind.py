"""How memories leave, and how they are forgotten: those that hold every word of a query."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any
from uuid import UUID

from django.utils import timezone

from accounts.actor import Actor
from accounts.domain.events import record_events
from memoryhub.common.errors import Forbidden, NotFound
from memoryhub.common.ids import typed_id
from memoryhub.common.text import excerpt
from memoryhub.common.times import format_time
from spaces.domain.arriving import Shape, arrive, versions_of
from spaces.domain.dreams.kinship import dream_kin, revive_sources
from spaces.domain.kinds import (
    SAMPLE,
    Forgetting,
    Forgotten,
    Hit,
    Kept,
    Kind,
    Row,
    Selection,
    in_batches,
    register_kind,
)
from spaces.domain.memories import arriving
from spaces.domain.memories.access import require_write
from spaces.domain.memories.arriving import POINTERS
from spaces.domain.memories.erasing import erase_memories
from spaces.domain.memories.fields import told
from spaces.domain.memories.recutting import GIVEN, save_cut
from spaces.domain.phrases import texts_in
from spaces.domain.search.holding import may_hold
from spaces.domain.search.names import Word
from spaces.domain.search.tokens import every_word, holds_all_words
from spaces.models import Memory, MemoryVersion, Space
from spaces.models.memories import MemoryQuerySet

SAID = ("text", "subject", "tags", "topics", "path", "source_ref", "decided_by", "links", "metadata")


def find(actor: Actor, selection: Selection) -> list[Hit]:
    """Expired, superseded and quarantined ones too: what is to be forgotten is to be nowhere.

    So is what a dream made of it, and what those that are named were merged from.
    """
    hits = {hit.id: hit for hit in _earlier(actor, selection)}
    hits |= {m.id: _hit(m, actor) for m in _holding(actor, selection)}
    hits |= {m.id: _hit(m, actor) for m in _named(actor, selection.ids)}
    whole = [hit.id for hit in hits.values() if not hit.earlier]
    hits |= {m.id: _hit(m, actor) for m in dream_kin(actor.account_id, whole, named=selection.ids)}
    return list(hits.values())


def erase(actor: Actor, selection: Selection, hits: Sequence[Hit]) -> Forgotten:
    whole = [hit.id for hit in hits if not hit.earlier]
    rows = Memory.objects.filter(account_id=actor.account_id, id__in=whole).order_by("id")
    memories = list(rows.select_for_update())
    revive_sources(actor, [memory.id for memory in memories])
    erase_memories(actor, "memory.forgotten", memories)
    return Forgotten(deleted=len(memories), versions=_erase_earlier(actor, selection, hits))


def export(actor: Actor, space: Space | None) -> Iterator[Row]:
    every = Memory.objects.filter(account_id=actor.account_id, space=space)
    now = timezone.now()
    behind = every.staying_behind(actor, now).values_list("id", flat=True)
    staying = {typed_id("mem", id) for id in behind}
    for memory in in_batches(every.leaving_with(actor, now).prefetch_related("versions")):
        yield without(staying, row_of(memory))


def row_of(memory: Memory) -> Row:
    return {**tell(memory), "versions": versions_of(memory)}


def tell(memory: Memory) -> Row:
    """A memory as it leaves, but for its earlier versions."""
    return {"id": typed_id("mem", memory.id), **told(memory), **_circumstances(memory)}


def without(staying: Collection[str], row: Row) -> Row:
    """Nothing that leaves points at what stays."""
    return {**row, **{name: None for name in POINTERS if row[name] in staying}}


def _named(actor: Actor, ids: Iterable[UUID]) -> list[Memory]:
    asked = list(ids)
    rows = Memory.objects.visible_to(actor).filter(id__in=asked).select_related("space")
    memories = rows.in_bulk(asked) if asked else {}
    if len(memories) < len(set(asked)):
        raise NotFound("memory")
    for space in {memory.space_id: memory.space for memory in memories.values()}.values():
        require_write(actor, space)
    return list(memories.values())


def _holding(actor: Actor, selection: Selection) -> Iterator[Memory]:
    words = every_word(selection.query)
    if words:
        for memory in in_batches(may_hold(_within(actor, selection.space), words)):
            if _holds(told(memory), words):
                yield memory


def _earlier(actor: Actor, selection: Selection) -> Iterator[Hit]:
    for version in _earlier_versions(actor, selection):
        yield Hit(version.memory_id, excerpt(version.data["text"], SAMPLE), earlier=True)


def _earlier_versions(actor: Actor, selection: Selection) -> Iterator[MemoryVersion]:
    words = every_word(selection.query)
    if words:
        rows = MemoryVersion.objects.filter(memory__in=_within(actor, selection.space))
        yield from (version for version in in_batches(rows) if _holds(version.data, words))


def _erase_earlier(actor: Actor, selection: Selection, hits: Sequence[Hit]) -> int:
    """The versions that hold the words, of memories that themselves don't."""
    staying = {hit.id for hit in hits if hit.earlier}
    versions = [v for v in _earlier_versions(actor, selection) if v.memory_id in staying] if staying else []
    MemoryVersion.objects.filter(id__in=[version.id for version in versions]).delete()
    spaces = Memory.objects.filter(id__in=[v.memory_id for v in versions]).values_list("id", "space_id")
    record_events(actor, "memory.updated", "memory", {typed_id("mem", id): space for id, space in spaces})
    return len(versions)


def _within(actor: Actor, space: Space) -> MemoryQuerySet:
    """What a query reaches: the space, and of the account as a whole if the actor may change that."""
    rows = Memory.objects.filter(account_id=actor.account_id)
    try:
        require_write(actor, None)
    except Forbidden:
        return rows.filter(space=space)
    return rows.reached_from(space)


def _holds(fields: Mapping[str, Any], words: Sequence[Word]) -> bool:
    return holds_all_words(words, *texts_in([fields[name] for name in SAID]))


def _hit(memory: Memory, actor: Actor) -> Hit:
    """No key is shown what is held for a person to read."""
    shown = actor.is_person or memory.status != "quarantined"
    return Hit(memory.id, excerpt(memory.text, SAMPLE) if shown else "")


def _circumstances(memory: Memory) -> Row:
    """What the hub noted down beside what was given."""
    return {
        "agent": memory.agent,
        "agent_instance": memory.agent_instance,
        "device_label": memory.device_label,
        "session": memory.session,
        "session_scoped": memory.session_scoped,
        "status": memory.status,
        "superseded_by": _pointer(memory.superseded_by_id),
        "resolved_by": _pointer(memory.resolved_by_id),
        "recall_count": memory.recall_count,
        "last_recalled_at": format_time(memory.last_recalled_at) if memory.last_recalled_at else None,
        "seen_count": memory.seen_count,
        "last_seen_at": format_time(memory.last_seen_at),
        "version": memory.version,
        "written_by": memory.written_by,
        "redactions": memory.redactions,
        "held_for": memory.held_for,
        "created_at": format_time(memory.created_at),
        "updated_at": format_time(memory.updated_at),
    }


def _pointer(id: UUID | None) -> str | None:
    return typed_id("mem", id) if id else None


SHAPE = Shape(
    prefix="mem",
    model=Memory,
    read=arriving.read,
    tell=tell,
    place=arriving.place,
    standing=arriving.standing,
    stated=arriving.STATED,
    event=("memory.created", "memory"),
    state=told,
    version=MemoryVersion,
    owner="memory",
    links=POINTERS,
    placing=arriving.placing,
    placed=arriving.placed,
)

MEMORIES = register_kind(
    Kind(
        prefix="mem",
        model_label="spaces.Memory",
        export=export,
        forgetting=Forgetting(scope="memories", find=find, erase=erase),
        kept=(Kept("spaces.Memory", GIVEN, save=save_cut), Kept("spaces.MemoryVersion", ("data",))),
        arrive=partial(arrive, SHAPE),
    )
)
