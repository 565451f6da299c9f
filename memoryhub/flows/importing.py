"""Import: all of a file or nothing of it. A dry run does the same and undoes it, so that what it tells is true."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from typing import IO, Any
from uuid import UUID

from django.db import transaction
from django.utils import timezone

from accounts.actor import Actor
from accounts.domain.events import record_event
from accounts.scopes import Right, Scope
from memoryhub.common.errors import Conflict, Forbidden, HubError, ValidationFailed
from memoryhub.common.ids import typed_id
from memoryhub.common.locks import lock
from memoryhub.common.secrets.walking import counted, cut
from memoryhub.common.sizes import check_longest
from memoryhub.common.text import check_text, excerpt
from memoryhub.flows.moving_in import open_source
from memoryhub.flows.prose import headline
from memoryhub.flows.readings import File, LeftOut, Source, refused, without_secrets
from spaces.domain.access import access_space, require_right
from spaces.domain.kinds import Arrival, Kind, Outcome, Row, RowRefused, all_kinds
from spaces.domain.secrets import check_secrets
from spaces.models import Space

BATCH, BATCH_CHARS = 500, 4_000_000
SHOWN = 100
CREATED = "import.created"

Told = Callable[[int], None]


@dataclass(frozen=True)
class Line:
    """A row worth showing: where it is in the file, and how it begins."""

    kind: str
    outcome: Outcome
    path: str
    number: int
    begins: str


@dataclass
class Report:
    """What became of the rows, or in a dry run what would."""

    system: str
    dry_run: bool
    counts: dict[str, Counter[Outcome]] = field(default_factory=dict)
    lines: list[Line] = field(default_factory=list)
    left_out: list[LeftOut] = field(default_factory=list)
    secrets: Counter[str] = field(default_factory=Counter)

    def total(self, *outcomes: Outcome) -> int:
        return sum(counted[outcome] for counted in self.counts.values() for outcome in outcomes or Outcome)

    @property
    def adds(self) -> bool:
        return self.total(Outcome.NEW, Outcome.CHANGED) > 0

    def as_lines(self) -> list[str]:
        """For a terminal."""
        return [
            f"{self.system}: {'nothing was changed; this is what would happen' if self.dry_run else 'imported'}",
            *(
                f"  {k}: {', '.join(f'{c[o]} {o}' for o in Outcome if c[o])}"
                for k, c in self.counts.items()
                if c
            ),
            *(
                f"  {x.outcome}: {x.path} line {x.number}: {x.begins}"
                for x in self.lines[:20]
                if x.outcome != "new"
            ),
            *(f"  cut: {count} × {category}" for category, count in self.secrets.items()),
            *(f"  left out: {x.count} × {x.what}. {x.why}" for x in self.left_out),
        ]

    def as_dict(self) -> dict[str, Any]:
        return {
            "system": self.system,
            "dry_run": self.dry_run,
            "conflicts": self.total(Outcome.CONFLICTING),
            "counts": {kind: {str(o): n[o] for o in Outcome} for kind, n in self.counts.items()},
            "lines": [
                {
                    "kind": x.kind,
                    "outcome": str(x.outcome),
                    "file": x.path,
                    "line": x.number,
                    "begins": x.begins,
                }
                for x in self.lines
            ],
            "redactions": counted(self.secrets),
            "left_out": [{"what": x.what, "count": x.count, "why": x.why} for x in self.left_out],
        }


def import_file(
    actor: Actor,
    file: IO[bytes],
    *,
    name: str = "",
    space: str | UUID | None = None,
    part: str = "",
    dry_run: bool = False,
    keep: bool = False,
    told: Told = lambda rows: None,
) -> Report:
    """Take a file into a space: an export of ours, or of another system (`name` is what the file is called).

    `part` says which of an export's spaces is meant, where it has several.

    Rows that conflict with what is here refuse the whole of it; with `keep`, what is here stays and the rest
    comes. Raises ValidationFailed naming file and line for what can't be taken: nothing has changed then.
    """
    within = access_space(actor, space)
    require_import(actor, within)
    source = open_source(file, name, part)
    with transaction.atomic():
        report = _take(actor, within, source, dry_run, told)
        if report.total(Outcome.CONFLICTING) and not (keep or dry_run):
            raise _in_conflict(report)
        if report.adds:
            record_event(actor, CREATED, "space", typed_id("spc", within.id), space_id=within.id)
        if dry_run:
            transaction.set_rollback(True)
    return report


def require_import(actor: Actor, space: Space) -> None:
    """Owners and admins, and their keys with the scope space:admin."""
    if Scope.SPACE_ADMIN not in actor.scopes:
        raise Forbidden(
            "This credential lacks the scope space:admin.", missing_scopes=[str(Scope.SPACE_ADMIN)]
        )
    require_right(actor, space, Right.MANAGE)


def _take(actor: Actor, space: Space, source: Source, dry_run: bool, told: Told) -> Report:
    lock(f"import:{space.id}")
    arrival = Arrival(actor, space, timezone.now())
    kinds = {kind.prefix: kind for kind in all_kinds()}
    taking = _Taking(arrival, Report(source.system, dry_run), told)
    for file in source.files:
        taking.file(kinds[file.prefix], file)
    taking.finish()
    notes = [
        LeftOut(what, count, "They point at nothing now.") for what, count in arrival.notes.items() if count
    ]
    left_out = [replace(left, what=without_secrets(left.what)) for left in source.left_out]
    taking.report.left_out = [*left_out, *notes]
    return taking.report


@dataclass
class _Taking:
    arrival: Arrival
    report: Report
    told: Told
    rows: int = 0

    def file(self, kind: Kind, file: File) -> None:
        counted = self.report.counts.setdefault(kind.name, Counter())
        for numbers, rows in _batches(file.rows()):
            outcomes = self._batch(kind, file, numbers, rows)
            counted.update(outcomes)
            for number, row, outcome in zip(numbers, rows, outcomes, strict=True):
                if outcome is not Outcome.SAME and len(self.report.lines) < SHOWN:
                    self._show(
                        Line(kind.name, outcome, without_secrets(file.path), number, _begins(cut(row).value))
                    )
            self.rows += len(rows)
            self.told(self.rows)

    def finish(self) -> None:
        for step in self.arrival.later:
            try:
                step()
            except ValidationFailed as fault:
                raise ValidationFailed({"file": [fault.message]}) from None

    def _batch(self, kind: Kind, file: File, numbers: list[int], rows: list[Row]) -> list[Outcome]:
        assert kind.arrive is not None
        clean = [self._without_secrets(file, number, row) for number, row in zip(numbers, rows, strict=True)]
        try:
            return kind.arrive(self.arrival, clean)
        except RowRefused as fault:
            raise _at_line(file.path, numbers[fault.index], fault.error) from None

    def _without_secrets(self, file: File, number: int, row: Row) -> Row:
        """Cut before anything keeps it; what may never be stored refuses the import."""
        try:
            check_text(row)
            check_longest(row)
            found = cut(row)
            check_secrets(found, self.arrival.space)
        except HubError as error:
            raise _at_line(file.path, number, error) from None
        self.report.secrets.update(found.categories)
        clean: Row = found.value
        return clean

    def _show(self, line: Line) -> None:
        self.report.lines.append(line)


def _batches(rows: Iterator[tuple[int, Row]]) -> Iterator[tuple[list[int], list[Row]]]:
    numbers: list[int] = []
    batch: list[Row] = []
    size = 0
    for number, row in rows:
        numbers.append(number)
        batch.append(row)
        size += len(json.dumps(row))
        if len(batch) == BATCH or size > BATCH_CHARS:
            yield numbers, batch
            numbers, batch, size = [], [], 0
    if batch:
        yield numbers, batch


def _begins(row: Row) -> str:
    return excerpt(" ".join(headline(row).split()), 120)


def _at_line(path: str, number: int, error: HubError) -> HubError:
    if isinstance(error, ValidationFailed):
        said = "; ".join(f"{name}: {' '.join(messages)}" for name, messages in error.fields.items())
        return refused(path, number, said)
    return refused(path, number, error.message)


def _in_conflict(report: Report) -> Conflict:
    at = ", ".join(f"{x.path} line {x.number}" for x in report.lines if x.outcome is Outcome.CONFLICTING)
    return Conflict(
        f"{report.total(Outcome.CONFLICTING)} rows of the file differ from what is here, and nothing was imported: "
        f"{excerpt(at, 300)}. Keep what is here, and import the rest, or change one of the two."
    )
