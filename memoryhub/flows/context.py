"""What an agent needs at the start of a task: everything that counts most, within a budget of characters."""

from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, TypeVar

from django.utils import timezone

from accounts.actor import Actor
from accounts.scopes import Scope
from actions.domain.actions import list_actions
from actions.models import Action
from memoryhub.common.paging import json_chars
from memoryhub.common.text import excerpt
from spaces.domain.access import access_space
from spaces.domain.dreams.due import DreamState, dream_state
from spaces.domain.due import due_records, open_records
from spaces.domain.journal import recent_journal
from spaces.domain.ledger import due_reminders
from spaces.domain.memories import core_memories
from spaces.domain.speaking import speaks
from spaces.domain.values import read_values
from spaces.models import JournalEntry, Memory, Record, Reminder, Space, Value

OPEN = 10
ACTIONS = 100
VALUES = 200
SHORTEST_SUMMARY = 40

Row = dict[str, Any]
Item = tuple[Row, str]
"""What is told of a thing, and who wrote it."""
R = TypeVar("R", Record, Reminder, JournalEntry)
READ = "person:"
"""As who a memory is told: what speaks to agents among memories is held already, until a person has read it."""


@dataclass(frozen=True)
class Asked:
    """`collections` none: all. `namespaces` are those whose values are wanted."""

    budget: int = 4_000
    journal_days: int = 7
    due_within_days: int = 7
    namespaces: Sequence[str] = ()
    collections: Sequence[str] | None = None


@dataclass(frozen=True)
class Teller:
    """How each kind of thing is told. Its compact JSON is what counts against the budget."""

    memory: Callable[[Memory], Row]
    record: Callable[[Record], Row]
    reminder: Callable[[Reminder], Row]
    action: Callable[[Action], Row]
    entry: Callable[[JournalEntry], Row]


@dataclass
class Budget:
    """Characters that are given out to items in order of weight. An item is whole or left out."""

    limit: int
    used: int = 0
    truncated: dict[str, int] = field(default_factory=dict)
    withheld: int = 0

    @property
    def left(self) -> int:
        return self.limit - self.used

    def take(self, section: str, items: Iterable[Item], *, unseen: int = 0) -> list[Row]:
        """Those that still fit; a small one may follow one that was too large. The others are counted, with
        those that were not even fetched; and apart from them those that speak to agents, which nobody gets unasked."""
        kept: list[Row] = []
        missing = unseen
        for item, written_by in items:
            if not self._fits(item):
                missing += 1
            elif speaks(item, written_by):
                self.withheld += 1
            else:
                self.used += json_chars(item)
                kept.append(item)
        if missing:
            self.truncated[section] = self.truncated.get(section, 0) + missing
        return kept

    def take_journal(self, entries: Iterable[Item]) -> list[Row]:
        """Whole ones, then one with a shorter summary."""
        return self.take("journal", ((self._shortened(entry), by) for entry, by in entries))

    def _fits(self, item: Row) -> bool:
        return json_chars(item) <= self.left

    def _shortened(self, entry: Row) -> Row:
        """The entry, or if it is too large as much of its summary as fits, unless that says nothing any more."""
        if self._fits(entry):
            return entry

        def cut(length: int) -> Row:
            return {**entry, "summary": excerpt(entry["summary"], length), "truncated": True}

        lengths = range(SHORTEST_SUMMARY, len(entry.get("summary", "")))
        fitting = bisect_left(lengths, True, key=lambda length: json_chars(cut(length)) > self.left)
        return cut(lengths[fitting - 1]) if fitting else entry


@dataclass(frozen=True)
class Context:
    now: datetime
    space: Space
    core: list[Row]
    overdue: list[Row]
    due: list[Row]
    reminders: list[Row]
    open: list[Row]
    actions: list[Row]
    journal: list[Row]
    kv: dict[str, dict[str, Any]]
    budget: Budget
    dream: DreamState


def get_context(actor: Actor, asked: Asked, tell: Teller) -> Context:
    """Filled in this order: core (pinned first), actions, what is overdue and due, reminders, values, journal, open
    records."""
    space = access_space(actor)
    budget = Budget(asked.budget)
    core = budget.take("core", ((tell.memory(memory), READ) for memory in core_memories(actor, space)))
    actions = budget.take("actions", ((tell.action(a), a.proposer) for a in _actions(actor)))
    overdue, due = _due(actor, space, asked, tell, budget)
    reminders = _reminders(actor, space, asked, tell, budget)
    kv = _values(actor, space, asked, budget)
    journal = budget.take_journal(_told(tell.entry, recent_journal(actor, space, asked.journal_days)))
    dream = dream_state(space)
    others = _open(actor, space, asked, tell, budget)
    return Context(
        timezone.now(), space, core, overdue, due, reminders, others, actions, journal, kv, budget, dream
    )


def _told(tell: Callable[[R], Row], rows: Iterable[R]) -> Iterator[Item]:
    return ((tell(row), row.written_by) for row in rows)


def _actions(actor: Actor) -> list[Action]:
    """None for a credential that could not list them either."""
    may_list = actor.scopes & {Scope.ACTIONS_PROPOSE, Scope.ACTIONS_EXECUTE}
    return list_actions(actor, limit=ACTIONS) if may_list else []


def _due(
    actor: Actor, space: Space, asked: Asked, tell: Teller, budget: Budget
) -> tuple[list[Row], list[Row]]:
    found = due_records(actor, space, within_days=asked.due_within_days, collections=asked.collections)
    unseen = found.total - len(found.overdue) - len(found.due)
    overdue = budget.take("overdue", _told(tell.record, found.overdue))
    return overdue, budget.take("due", _told(tell.record, found.due), unseen=unseen)


def _reminders(actor: Actor, space: Space, asked: Asked, tell: Teller, budget: Budget) -> list[Row]:
    """None for a credential that could not list them either."""
    if Scope.LEDGER_READ not in actor.scopes:
        return []
    found, total = due_reminders(actor, space, within_days=asked.due_within_days)
    return budget.take("reminders", _told(tell.reminder, found), unseen=total - len(found))


def _open(actor: Actor, space: Space, asked: Asked, tell: Teller, budget: Budget) -> list[Row]:
    found = open_records(
        actor, space, due_after_days=asked.due_within_days, collections=asked.collections, limit=OPEN
    )
    return budget.take("open", _told(tell.record, found.newest), unseen=found.total - len(found.newest))


def _values(actor: Actor, space: Space, asked: Asked, budget: Budget) -> dict[str, dict[str, Any]]:
    """Namespace → key → value. An item is one key with its value."""
    kv: dict[str, dict[str, Any]] = {namespace: {} for namespace in asked.namespaces}
    if not kv:
        return kv
    found = read_values(actor, space, asked.namespaces, limit=VALUES)
    for value in found:
        for item in budget.take("kv", [({value.key: value.value}, value.written_by)]):
            kv[value.namespace] |= item
    everything = Value.objects.visible_to(actor).inside(space).filter(namespace__in=list(kv))
    budget.take("kv", [], unseen=everything.count() - len(found))
    return kv
