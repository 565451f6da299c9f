"""One search over everything that a space holds, and one way to read what it finds: for clients that ask for no more.

Memories are found by meaning and words; plans, summaries, the journal and records by the words they have. What the
caller's scopes don't cover is absent.
"""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from operator import or_
from typing import Any
from uuid import UUID

from django.conf import settings
from django.db.models import Q, QuerySet, TextField
from django.db.models.functions import Cast

from accounts.actor import Actor
from accounts.models import Account
from accounts.scopes import Scope
from memoryhub.common.errors import NotFound
from memoryhub.common.ids import parse_id, typed_id
from memoryhub.common.tenancy import tenant
from memoryhub.common.text import excerpt
from memoryhub.common.times import format_time
from spaces.domain.access import access_space
from spaces.domain.journal import log_of
from spaces.domain.memories.access import access_memory
from spaces.domain.memories.recalling import EVERYWHERE, Wanted, count_recall, find_memories, meaning_of
from spaces.domain.plans import access_plan
from spaces.domain.records import due_text
from spaces.domain.search.names import Word
from spaces.domain.search.tokens import document_words, query_words
from spaces.models import JournalEntry, Memory, Plan, Record, Space, Summary

FOUND = 20
LOOKED_AT = 100
"""The newest rows of a kind that have one of the words."""
MOST_WORDS = 12
TITLE = 80
SNIPPET = 300
BY_WORDS = 0.7
"""What all the words of a question are worth, beside a memory's score by meaning and words."""


@dataclass(frozen=True)
class Item:
    """`url` opens a page that shows it to a member who is signed in."""

    id: str
    title: str
    text: str
    url: str
    metadata: dict[str, Any]
    score: float = 0.0

    @property
    def snippet(self) -> str:
        return excerpt(self.text, SNIPPET)


@dataclass(frozen=True)
class Place:
    """Where pages are: the account, the slugs of the spaces that the actor reads, and the space of what is in none."""

    account: str
    slugs: Mapping[UUID, str]
    fallback: Space

    def url(self, row: Memory | Plan | Summary | JournalEntry | Record, path: str) -> str:
        slug = self.slugs.get(row.space_id or self.fallback.id, self.fallback.slug)
        return f"{settings.PUBLIC_URL}/a/{self.account}/{slug}/{path}"


def look_up(actor: Actor, query: str) -> list[Item]:
    """The best first. Called outside of any transaction: the question's vector may take a while."""
    meaning = meaning_of(query)
    with tenant(actor.account_id):
        place = _place(actor)
        words = [word for word in query_words(query) if not word.stop][:MOST_WORDS]
        found = [
            item
            for kind in KINDS.values()
            if kind.open_to(actor)
            for item in kind.search(actor, place, words)
        ]
        if Scope.MEMORY_READ in actor.scopes and query.strip():
            ranked = find_memories(actor, query, Wanted(scope=EVERYWHERE), limit=FOUND, meaning=meaning)
            reasons = ranked.reasons
            found += [
                _memory(place, memory, reasons[memory.id].score)
                for memory in ranked.page.items
                if memory.id in reasons
            ]
        best = sorted(found, key=lambda item: (-item.score, item.id))[:FOUND]
        count_recall(actor, [parse_id("mem", item.id) for item in best if item.id.startswith("mem_")])
    return best


def read_item(actor: Actor, id: str) -> Item:
    """The one with this typed id. Whatever the caller may not read is as absent as what never was."""
    place = _place(actor)
    try:
        if id.startswith("mem_") and Scope.MEMORY_READ in actor.scopes:
            return _memory(place, access_memory(actor, id))
        kind = KINDS[id[:3]]
        if kind.open_to(actor):
            return kind.read(actor, place, id)
    except (NotFound, KeyError):
        pass
    raise NotFound("item")


def _place(actor: Actor) -> Place:
    slug = Account.objects.values_list("slug", flat=True).get(id=actor.account_id)
    slugs = dict(Space.objects.visible_to(actor).values_list("id", "slug"))
    return Place(slug, slugs, access_space(actor))


def _memory(place: Place, memory: Memory, score: float = 0.0) -> Item:
    id = typed_id("mem", memory.id)
    told = {
        "kind": memory.kind,
        "status": memory.status,
        "origin": memory.origin,
        "trust": memory.trust,
        "agent": memory.agent,
        "subject": memory.subject,
        "tags": memory.tags,
        "topics": memory.topics,
        "path": memory.path,
        "occurred_at": format_time(memory.occurred_at),
        "superseded_by": memory.superseded_by_id and typed_id("mem", memory.superseded_by_id),
    }
    title = memory.subject or excerpt(" ".join(memory.text.split()), TITLE)
    return Item(id, title, memory.text, place.url(memory, f"memories/{id}/"), _filled(told), score)


def _plan(place: Place, plan: Plan, score: float = 0.0) -> Item:
    id = typed_id("pln", plan.id)
    told = {
        "type": plan.type,
        "status": plan.status,
        "tags": plan.tags,
        "version": plan.version,
        "updated_at": format_time(plan.updated_at),
    }
    return Item(id, plan.title, plan.content, place.url(plan, f"plans/{id}/"), _filled(told), score)


def _summary(place: Place, summary: Summary, score: float = 0.0) -> Item:
    id = typed_id("sum", summary.id)
    told = {
        "agent": summary.agent,
        "session": summary.session,
        "trigger": summary.trigger,
        "created_at": format_time(summary.created_at),
    }
    title = f"Session summary, {summary.session or summary.agent or summary.created_at.date().isoformat()}"
    url = place.url(summary, f"sessions/?summary={id}")
    return Item(id, title, summary.text, url, _filled(told), score)


def _entry(place: Place, entry: JournalEntry, score: float = 0.0) -> Item:
    title = f"Journal, {'week of ' if entry.kind == 'week' else ''}{entry.date.isoformat()}"
    url = place.url(entry, f"journal/{entry.kind}/{entry.date.isoformat()}/")
    told = {"kind": entry.kind, "date": entry.date.isoformat(), "updated_at": format_time(entry.updated_at)}
    return Item(typed_id("jrn", entry.id), title, _log_text(entry), url, told, score)


def _log_text(entry: JournalEntry) -> str:
    log = log_of(entry)
    lists = {"Decisions": log.decisions, "Open loops": log.open_loops, "Sources": log.source_refs}
    parts = [
        f"{heading}:\n" + "\n".join(f"- {item}" for item in items)
        for heading, items in lists.items()
        if items
    ]
    return "\n\n".join([*([log.summary] if log.summary else []), *parts])


def _record(place: Place, record: Record, score: float = 0.0) -> Item:
    id = typed_id("rec", record.id)
    told = {
        "collection": record.collection,
        "status": record.status,
        "due_at": due_text(record),
        "origin": record.origin,
        "version": record.version,
        "updated_at": format_time(record.updated_at),
    }
    title = f"{record.collection}: {record.key or id}"
    text = json.dumps(record.data, ensure_ascii=False, indent=1)
    return Item(
        id,
        title,
        text,
        place.url(record, f"records/in/{record.collection}/{id}/"),
        _filled(told),
        score,
    )


def _filled(told: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in told.items() if value}


@dataclass(frozen=True)
class Searched:
    """A kind whose rows are found by the words in `fields`."""

    prefix: str
    scopes: tuple[Scope, ...]
    rows: Callable[[Actor], QuerySet[Any]]
    fields: tuple[str, ...]
    show: Callable[[Place, Any, float], Item]
    one: Callable[[Actor, str], Any]
    newest: str = "-updated_at"

    def open_to(self, actor: Actor) -> bool:
        return actor.scopes.issuperset(self.scopes)

    def search(self, actor: Actor, place: Place, words: Sequence[Word]) -> Iterator[Item]:
        if not words:
            return
        rows = self.rows(actor)
        casts = {f"{field}_text": Cast(field, TextField()) for field in self.fields}
        having = [
            Q((f"{name}__icontains", form)) for name in casts for word in words for form in _forms(word)
        ]
        newest = rows.annotate(**casts).filter(reduce(or_, having)).order_by(self.newest, "-id")[:LOOKED_AT]
        for row in newest:
            item = self.show(place, row, 0.0)
            if share := _held(words, f"{item.title}\n{item.text}"):
                yield self.show(place, row, BY_WORDS * share)

    def read(self, actor: Actor, place: Place, id: str) -> Item:
        return self.show(place, self.one(actor, id), 0.0)


def _forms(word: Word) -> set[str]:
    return {word.text, word.leaves[0]}


def _held(words: Sequence[Word], text: str) -> float:
    lexemes = {lexeme for word in document_words(text) for lexeme in word.lexemes}
    return sum(word.held_by(lexemes) for word in words) / len(words)


def _reach(actor: Actor, rows: Any) -> Any:
    """What the caller reads; where the request names a space, what is in it."""
    visible = rows.visible_to(actor)
    return visible.inside(access_space(actor)) if actor.space_ref else visible


def _named(rows: Any, prefix: str) -> Callable[[Actor, str], Any]:
    def one(actor: Actor, id: str) -> Any:
        row = rows.visible_to(actor).filter(id=parse_id(prefix, id)).first()
        if row is None:
            raise NotFound("item")
        return row

    return one


KINDS = {
    kind.prefix: kind
    for kind in (
        Searched(
            prefix="pln",
            scopes=(Scope.PLANS_READ,),
            rows=lambda actor: _reach(actor, Plan.objects),
            fields=("title", "content"),
            show=_plan,
            one=access_plan,
        ),
        Searched(
            prefix="sum",
            scopes=(Scope.MCP_READ, Scope.DECISIONS_READ),
            rows=lambda actor: _reach(actor, Summary.objects),
            fields=("text", "session", "agent"),
            show=_summary,
            one=_named(Summary.objects, "sum"),
            newest="-created_at",
        ),
        Searched(
            prefix="jrn",
            scopes=(Scope.SPACE_READ,),
            rows=lambda actor: _reach(actor, JournalEntry.objects),
            fields=("summary", "decisions", "open_loops"),
            show=_entry,
            one=_named(JournalEntry.objects, "jrn"),
        ),
        Searched(
            prefix="rec",
            scopes=(Scope.SPACE_READ,),
            rows=lambda actor: _reach(actor, Record.objects),
            fields=("collection", "key", "data"),
            show=_record,
            one=_named(Record.objects, "rec"),
        ),
    )
}
