"""What was stored before a rule for secrets was there, or past every walk, is gone over by the rules of now.

It walks the registry of kinds, a batch in a transaction of its own. What was cut once stays as it is, so that it may be
ended at any time and begun again, from where it was or anew.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

from django.apps import apps
from django.contrib.postgres.fields import ArrayField
from django.db import models

from accounts.actor import Actor, system_actor
from accounts.domain.events import record_event
from memoryhub.common.ids import typed_id
from memoryhub.common.secrets import Cut, cut
from memoryhub.common.secrets.walking import counted
from memoryhub.common.tenancy import in_tenant
from memoryhub.common.text import excerpt
from memoryhub.flows.transfers import drop_exports
from spaces.domain.kinds import Kept, all_kinds

BATCH = 200
SPACES = Kept("spaces.Space", fields=("description",), names=("name",))


@dataclass(frozen=True)
class Position:
    """How far it is: all tables before this one, and in it all rows up to this one, are gone over."""

    table: str = ""
    after: UUID | None = None


@dataclass
class Found:
    """What a table held. `names`: secrets in names, or in what somebody agreed to, which nobody may alter."""

    table: str
    looked: int = 0
    rows: int = 0
    secrets: Counter[str] = field(default_factory=Counter)
    names: int = 0

    def add(self, more: Found) -> None:
        self.looked += more.looked
        self.rows += more.rows
        self.names += more.names
        self.secrets += more.secrets

    def as_dict(self) -> dict[str, Any]:
        return {
            "table": self.table,
            "looked_at": self.looked,
            "rows": self.rows,
            "secrets": counted(self.secrets),
            "left_in_names": self.names,
        }

    def as_line(self) -> str:
        told = ", ".join(f"{n} × {category}" for category, n in sorted(self.secrets.items()))
        left = f"; {self.names} rows have one that stays" if self.names else ""
        return (
            f"{self.table}: {self.looked} rows, {self.rows} with secrets{f' ({told})' if told else ''}{left}"
        )


def tables() -> list[Kept]:
    return [SPACES, *(kept for kind in all_kinds() for kept in kind.kept)]


def rescan(
    account_id: UUID, *, dry_run: bool = False, since: Position = Position()
) -> Iterator[tuple[Position, Found]]:
    """Where it is after each batch, and what was found in that."""
    actor = system_actor(account_id)
    for kept in _left(since):
        after = since.after if kept.label == since.table else None
        while True:
            last, found = in_tenant(account_id, lambda: _batch(actor, kept, after, dry_run))  # noqa: B023
            if last is None:
                break
            after = last
            yield Position(kept.label, after), found


def _left(since: Position) -> list[Kept]:
    labels = [kept.label for kept in tables()]
    return tables()[labels.index(since.table) if since.table in labels else 0 :]


def _batch(actor: Actor, kept: Kept, after: UUID | None, dry_run: bool) -> tuple[UUID | None, Found]:
    found = Found(kept.label)
    rows = apps.get_model(kept.label)._default_manager.filter(account_id=actor.account_id).order_by("id")
    rows = rows.filter(id__gt=after) if after else rows
    locked = kept.fields and not (kept.frozen or dry_run)
    batch = list((rows.select_for_update(of=("self",)) if locked else rows)[:BATCH])
    for row in batch:
        _look(row, kept, found, dry_run)
    if found.rows and not dry_run:
        drop_exports(actor.account_id)
        note = f"{sum(found.secrets.values())} in {found.rows} rows of {kept.label}"
        record_event(actor, "secrets.cut", "account", typed_id("acc", actor.account_id), summary=note)
    return (batch[-1].id if batch else None), found


def _look(row: Any, kept: Kept, found: Found, dry_run: bool) -> None:
    given = {name: getattr(row, name) for name in (*kept.names, *kept.fields)}
    done = cut(given)
    held = {str(place[0]) for place in done.places}
    fields = [name for name in kept.fields if name in held]
    found.looked += 1
    found.names += bool(held & set(kept.names))
    found.rows += bool(fields)
    if fields:
        found.secrets += done.categories - cut({name: given[name] for name in kept.names}).categories
    if fields and not dry_run:
        _keep(row, done, fields)
        (_write_anew if kept.frozen else kept.save)(row, fields)


def _write_anew(row: Any, fields: list[str]) -> None:
    if type(row)._default_manager.filter(account_id=row.account_id, id=row.id).delete()[0]:
        row.save(force_insert=True)


def _keep(row: Any, done: Cut, fields: list[str]) -> None:
    for name in fields:
        setattr(row, name, _fitting(row._meta.get_field(name), done.value[name]))


def _fitting(column: models.Field[Any, Any], value: Any) -> Any:
    """A mark may be longer than what it stands for."""
    if isinstance(column, ArrayField):
        return [_fitting(column.base_field, item) for item in value]
    longest = getattr(column, "max_length", None)
    return excerpt(value, longest) if isinstance(value, str) and longest else value
