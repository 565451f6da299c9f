"""What sessions decided: a summary in prose, with the memories that it records."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any
from uuid import UUID

from django.db import transaction
from django.db.models import Count, Exists, OuterRef, Prefetch, Q

from accounts.actor import Actor
from accounts.domain.accounts import acting_in
from accounts.domain.events import record_event
from memoryhub.common.canonical import digest
from memoryhub.common.errors import NotFound, ValidationFailed
from memoryhub.common.ids import parse_id, typed_id
from memoryhub.common.locks import lock
from memoryhub.common.paging import Page, page_of
from memoryhub.common.secrets import marked
from memoryhub.common.text import is_blank
from spaces.domain.access import access_space
from spaces.domain.checks import check_length
from spaces.domain.memories.access import named_memories, require_write, writing_place
from spaces.domain.memories.fields import Place, Statement
from spaces.domain.memories.remembering import Remembered, composed, remember_all, see_again
from spaces.domain.memories.superseding import RESOLVED, SUPERSEDED, supersede
from spaces.domain.transcripts import is_transcript
from spaces.models import Memory, Summary, SummaryItem
from spaces.models.memories import MemoryQuerySet
from spaces.models.summaries import TRIGGERS, SummaryQuerySet

TEXT_LENGTH = 8_000
ITEMS = 50
ITEM_LENGTH = 2_000
MOST_SPEAKERS = 12
REPEATED_WITHIN = timedelta(hours=24)


def items_among(memories: MemoryQuerySet) -> "Prefetch[str]":
    """In their order, those whose memory is one of these."""
    own = memories.filter(account_id=OuterRef("account_id"), id=OuterRef("memory_id"))
    rows = SummaryItem.objects.filter(Exists(own)).order_by("position").select_related("memory")
    return Prefetch("items", rows)


def live_items() -> "Prefetch[str]":
    return items_among(Memory.objects.live())


@dataclass(frozen=True)
class Item:
    """A statement, and the ids of the memories that it takes the place of."""

    statement: Statement
    supersedes: Sequence[str] = ()


@dataclass(frozen=True)
class Said:
    text: str = ""
    items: Sequence[Item] = ()
    agent: str = ""
    session: str = ""
    trigger: str = ""


@dataclass(frozen=True)
class Recorded:
    """`memories` are those of the items, in their order; `superseded` and `resolved` are ids of what they replaced.

    A `duplicate` is the same summary again, of which the first one is here.
    """

    summary: Summary
    memories: Sequence[Remembered]
    duplicate: bool = False
    superseded: list[UUID] = field(default_factory=list)
    resolved: list[UUID] = field(default_factory=list)


def record_summary(actor: Actor, said: Said, *, account: str = "", space: str = "") -> Recorded:
    """All of it or nothing. Without a space it belongs to the account as a whole."""
    with acting_in(actor, account) as there, transaction.atomic():
        place = writing_place(there.in_space(space), account_wide=not space)
        _check(said)
        summary = _composed(there, place, said)
        memories = _statements(there, place, summary, said)
        return _record(there, place, summary, said, memories)


def list_summaries(
    actor: Actor,
    *,
    account: str = "",
    space: str = "",
    agent: str = "",
    session: str = "",
    size: int = 50,
    token: str | None = None,
) -> Page[Summary]:
    """Newest first: of that space or, without one, of every space the actor reads and of the account as a whole."""
    with acting_in(actor, account) as there:
        within = access_space(there, space).id if space else None
        exact = {"space_id": within, "agent": agent.strip(), "session": session.strip()}
        rows = Summary.objects.visible_to(there).filter(
            **{name: value for name, value in exact.items() if value}
        )
        return page_of(
            rows.prefetch_related(live_items()),
            token=token,
            size=size,
            actor_key=actor.key,
            filters={"list": "summaries", "account": there.account_id, **exact},
        )


def space_summaries(
    actor: Actor,
    *,
    id: str = "",
    agent: str = "",
    session: str = "",
    size: int = 20,
    token: str | None = None,
) -> Page[Summary]:
    """Newest first: those of the space of the call, and of the account as a whole; or the one with that id."""
    space = access_space(actor)
    named = {"id": parse_id("sum", id) if id else "", "agent": agent, "session": session}
    exact = {name: value for name, value in named.items() if value}
    rows = Summary.objects.visible_to(actor).filter(Q(space=space) | Q(space=None), **exact)
    return page_of(
        rows.prefetch_related(live_items()),
        token=token,
        size=size,
        actor_key=actor.key,
        filters={"list": "sessions", "space": space.id, **exact},
    )


def speakers(actor: Actor) -> list[tuple[str, int]]:
    """Who has recorded summaries there, and how many each: the busiest first."""
    space = access_space(actor)
    rows = Summary.objects.visible_to(actor).filter(Q(space=space) | Q(space=None)).exclude(agent="")
    counted = rows.order_by().values_list("agent").annotate(n=Count("id")).order_by("-n", "agent")
    return list(counted[:MOST_SPEAKERS])


def access_summary(actor: Actor, id: str) -> Summary:
    return _found(Summary.objects.visible_to(actor).prefetch_related(live_items()), id)


@transaction.atomic
def delete_summary(actor: Actor, id: str) -> Summary:
    """The prose goes for good; the memories that it recorded stay."""
    summary = _found(Summary.objects.visible_to(actor).select_related("space"), id)
    require_write(actor, summary.space)
    Summary.objects.filter(account_id=actor.account_id, id=summary.id).delete()
    record_event(actor, "summary.deleted", "summary", typed_id("sum", summary.id), space_id=summary.space_id)
    return summary


def _found(rows: SummaryQuerySet, id: str) -> Summary:
    summary = rows.filter(id=parse_id("sum", id)).first()
    if summary is None:
        raise NotFound("summary")
    return summary


def _check(said: Said) -> None:
    check_length(said.text, TEXT_LENGTH, "text")
    check_length(said.agent, 200, "agent")
    check_length(said.session, 200, "session")
    if said.trigger and said.trigger not in TRIGGERS:
        raise ValidationFailed({"trigger": [f"Must be one of {', '.join(TRIGGERS)}."]})
    if is_blank(said.text) and not said.items:
        raise ValidationFailed({"text": ["Send a summary as text, or items, or both."]})
    if len(said.items) > ITEMS:
        raise ValidationFailed(
            {"items": [f"Must have at most {ITEMS} items. Send the rest in another call."]}
        )
    check_prose(
        {
            "text": said.text,
            **{f"items[{i}].text": item.statement["text"] for i, item in enumerate(said.items)},
        }
    )


def check_prose(texts: Mapping[str, str]) -> None:
    faults = {
        name: ["Reads like a transcript. Say in prose what was decided, and leave out who said what in turn."]
        for name, text in texts.items()
        if is_transcript(text)
    }
    if faults:
        raise ValidationFailed(faults)


def _composed(actor: Actor, place: Place, said: Said) -> Summary:
    given: dict[str, Any] = {
        "agent": said.agent.strip() or actor.attribution.agent,
        "session": said.session.strip() or actor.attribution.session,
        "trigger": said.trigger or "manual",
        "text": said.text.strip(),
    }
    items = [[dict(item.statement), list(item.supersedes)] for item in said.items]
    return Summary(
        account_id=place.account_id,
        space=place.space,
        written_by=actor.key,
        created_at=place.now,
        redactions=marked(given["text"]),
        digest=bytes.fromhex(digest([place.space_id and place.space_id.hex, *given.values(), items])),
        **given,
    )


def _statements(actor: Actor, place: Place, summary: Summary, said: Said) -> list[Memory]:
    said_by: Statement = {"agent": summary.agent, "session": summary.session}
    memories, faults = [], dict[str, list[str]]()
    for i, item in enumerate(said.items):
        try:
            memories.append(composed(actor, place, {**item.statement, **said_by}))
        except ValidationFailed as fault:
            faults |= {f"items[{i}].{name}": complaints for name, complaints in fault.fields.items()}
    if faults:
        raise ValidationFailed(faults)
    return memories


def _record(actor: Actor, place: Place, summary: Summary, said: Said, memories: list[Memory]) -> Recorded:
    first = _said_before(summary)
    if first is not None:
        return Recorded(first, _again(actor, place, first, memories), duplicate=True)
    targets = _targets(actor, said)
    remembered = remember_all(actor, place, memories, locking=[old.id for old in targets.values()])
    outcomes = _supersede(actor, place, said, remembered, targets)
    summary.save(force_insert=True)
    _link(summary, [one.memory for one in remembered])
    record_event(actor, "summary.recorded", "summary", typed_id("sum", summary.id), space_id=summary.space_id)
    return Recorded(
        summary,
        remembered,
        superseded=[id for id, became in outcomes.items() if became == SUPERSEDED],
        resolved=[id for id, became in outcomes.items() if became == RESOLVED],
    )


def _said_before(summary: Summary) -> Summary | None:
    """The same within a day. Of two at once the second waits, and finds the first."""
    lock(f"summary:{summary.account_id}:{bytes(summary.digest).hex()}")
    same = Summary.objects.filter(account_id=summary.account_id, digest=summary.digest)
    recent = same.filter(created_at__gt=summary.created_at - REPEATED_WITHIN)
    return recent.order_by("-created_at", "-id").first()


def _again(actor: Actor, place: Place, first: Summary, memories: list[Memory]) -> list[Remembered]:
    """What the first one recorded is seen again, whatever became of it since; what was forgotten is new."""
    stored = dict(SummaryItem.objects.filter(summary_id=first.id).values_list("position", "memory_id"))
    rows = Memory.objects.filter(account_id=place.account_id, id__in=stored.values()).order_by("id")
    locked = {
        memory.id: memory
        for memory in rows.select_related("space").select_for_update(of=("self",), no_key=True)
    }
    gone = [i for i in range(len(memories)) if stored.get(i) not in locked]
    anew = remember_all(actor, place, [memories[i] for i in gone])
    _link(first, [one.memory for one in anew], gone)
    fresh = dict(zip(gone, anew, strict=True))
    return [
        fresh[i] if i in fresh else see_again(actor, place, locked[stored[i]], memory)
        for i, memory in enumerate(memories)
    ]


def _link(summary: Summary, memories: Sequence[Memory], positions: Sequence[int] | None = None) -> None:
    places = range(len(memories)) if positions is None else positions
    SummaryItem.objects.bulk_create(
        SummaryItem(account_id=summary.account_id, summary=summary, memory=memory, position=place)
        for place, memory in zip(places, memories, strict=True)
    )


def _targets(actor: Actor, said: Said) -> dict[str, Memory]:
    """Id as it was given → the memory that is to be superseded, which the actor may change."""
    ids = [id for item in said.items for id in item.supersedes]
    found = named_memories(actor, ids)
    for i, item in enumerate(said.items):
        for id in item.supersedes:
            if id not in found:
                absent = NotFound("memory")
                absent.details = {"item": f"items[{i}].supersedes"}
                raise absent
            require_write(actor, found[id].space)
    return found


def _supersede(
    actor: Actor, place: Place, said: Said, remembered: Sequence[Remembered], targets: Mapping[str, Memory]
) -> dict[UUID, str]:
    """Memory → what became of it."""
    outcomes: dict[UUID, str] = {}
    stored = {one.memory.id: one.memory for one in remembered}
    current = Memory.objects.filter(account_id=place.account_id).select_related("space")
    locked = {**current.in_bulk({old.id for old in targets.values()} - stored.keys()), **stored}
    for i, item in enumerate(said.items):
        for old in {targets[id].id: locked[targets[id].id] for id in item.supersedes}.values():
            try:
                outcomes[old.id] = supersede(actor, old, remembered[i].memory, place.now) or outcomes.get(
                    old.id, ""
                )
            except ValidationFailed as fault:
                raise ValidationFailed(
                    {f"items[{i}].{name}": complaints for name, complaints in fault.fields.items()}
                ) from fault
    return outcomes
