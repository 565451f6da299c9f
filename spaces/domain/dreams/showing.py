"""A run as a person reads it: what each change would do or did, word for word, and what the rules say of it."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

from memoryhub.common.ids import typed_id
from spaces.models import DreamChange, DreamRun, Memory

NAMED = ("subject", "tier", "tags", "expires_at")


@dataclass(frozen=True)
class Turn:
    """A field that changes, besides the text."""

    name: str
    before: str
    after: str


@dataclass(frozen=True)
class ShownChange:
    """`before` and `after` are texts; the sources of a merge are joined by empty lines. `scrubbed`: what it was about
    is forgotten."""

    change: DreamChange
    before: str
    after: str
    turns: list[Turn] = field(default_factory=list)
    memories: list[str] = field(default_factory=list)

    @property
    def reason(self) -> str:
        return str(self.change.proposal.get("reason", ""))

    @property
    def made(self) -> str:
        return typed_id("mem", self.change.made) if self.change.made else ""

    @property
    def scrubbed(self) -> bool:
        return not self.change.proposal


def shown_changes(run: DreamRun) -> list[ShownChange]:
    """In their order. Run and changes are of a space that the caller may read."""
    changes = list(run.changes.order_by("number"))
    now = _as_they_are(run, changes)
    return [_shown(change, now) for change in changes]


def _as_they_are(run: DreamRun, changes: Iterable[DreamChange]) -> dict[UUID, dict[str, Any]]:
    ids = {id for change in changes for id in change.memories}
    rows = Memory.objects.filter(account_id=run.account_id, space_id=run.space_id, id__in=ids)
    return {row.id: _told(row) for row in rows.exclude(status="quarantined")}


def _told(memory: Memory) -> dict[str, Any]:
    told = {name: getattr(memory, name) for name in (*NAMED, "text")}
    return {**told, "expires_at": memory.expires_at.isoformat() if memory.expires_at else None}


def _shown(change: DreamChange, now: Mapping[UUID, dict[str, Any]]) -> ShownChange:
    images = {UUID(image["id"]): image for image in change.before}
    known = [images.get(id) or now.get(id) for id in change.memories]
    sources = [source for source in known if source]
    before = "\n\n".join(source["text"] for source in sources)
    return ShownChange(
        change,
        before,
        after=_after(change, before),
        turns=list(_turns(change, sources[0])) if len(sources) == 1 and change.op != "add" else [],
        memories=[typed_id("mem", id) for id in change.memories],
    )


def _after(change: DreamChange, before: str) -> str:
    if change.op == "drop":
        return ""
    return str(change.proposal.get("text", "" if change.op in ("merge", "add") else before))


def _turns(change: DreamChange, source: Mapping[str, Any]) -> Iterable[Turn]:
    for name in NAMED:
        if name in change.proposal and change.proposal[name] != source[name]:
            yield Turn(name, _said(source[name]), _said(change.proposal[name]))


def _said(value: Any) -> str:
    return ", ".join(value) if isinstance(value, list) else str(value or "")
