"""What an action rests on: the memories that it names, and what it depends on as that is now."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from accounts.actor import Actor
from actions.domain.facts import texts_in
from actions.domain.preconditions import KV, RECORDS
from actions.models import Action
from memoryhub.common.ids import parse_id
from memoryhub.common.text import nfc
from spaces.models import Memory, Record, Space, Value

NAMED = re.compile(r"\bmem_[0-9a-f]{32}\b")
AT_MOST = 20
UNTRUSTED = "external"


@dataclass(frozen=True)
class Source:
    id: str
    text: str
    trust: str

    @property
    def is_untrusted(self) -> bool:
        """It came from outside, and no person has read it."""
        return self.trust == UNTRUSTED


@dataclass(frozen=True)
class Now:
    """A thing that an action's preconditions name, as it is now; `state` None: it is not there."""

    name: str
    state: dict[str, Any] | None


def sources_of(actor: Actor, action: Action) -> list[Source]:
    """The memories whose ids stand in its payload, its summary or `meta`, if the actor may read them; in that order."""
    said = [action.current.summary, *texts_in(action.meta), *texts_in(action.current.payload)]
    named = list(dict.fromkeys(id for text in said for id in NAMED.findall(text)))[:AT_MOST]
    ids = {id: parse_id("mem", id) for id in named}
    memories = Memory.objects.visible_to(actor).reached_from(action.space).live()
    found = memories.in_bulk(list(ids.values())) if ids else {}
    return [Source(name, found[id].text, found[id].trust) for name, id in ids.items() if id in found]


def things_now(action: Action) -> list[Now]:
    """The values and records that it is conditional on. Two queries, for what there is of either kind."""
    conditions = action.current.preconditions
    return [
        *_values(action.space, conditions.get(KV, {})),
        *_records(action.space, conditions.get(RECORDS, {})),
    ]


def _values(space: Space, wanted: dict[str, Any]) -> Iterator[Now]:
    if not wanted:
        return
    names = [nfc(name).split("/", 1) for name in wanted]
    rows = Value.objects.inside(space).filter(
        namespace__in=[n[0] for n in names], key__in=[n[1] for n in names]
    )
    found = {f"{row.namespace}/{row.key}": row for row in rows}
    for name in wanted:
        row = found.get(nfc(name))
        yield Now(name, {"value": row.value, "version": row.version} if row else None)


def _records(space: Space, wanted: dict[str, Any]) -> Iterator[Now]:
    if not wanted:
        return
    ids = {ref: parse_id("rec", ref) for ref in wanted}
    rows = Record.objects.inside(space).in_bulk(list(ids.values()))
    for ref, id in ids.items():
        row = rows.get(id)
        yield Now(ref, _told(row) if row else None)


def _told(record: Record) -> dict[str, Any]:
    told = {"collection": record.collection, "status": record.status, "version": record.version}
    return {**told, "key": record.key, "data": record.data} if record.key else {**told, "data": record.data}
