"""How rows of an export become rows here: what kinds of stored things share in it.

A file is from outside, whoever brings it. So each field is checked as an ordinary write checks it, the text is
trusted as `external`, and who wrote it is kept under a name that is nobody's here.
"""

from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Generic, TypeVar
from uuid import UUID
from zoneinfo import ZoneInfo

from django.db import IntegrityError, transaction

from accounts.domain.events import record_events
from accounts.models import Tenant
from memoryhub.common.errors import HubError, NotFound, ValidationFailed
from memoryhub.common.ids import ID_PREFIXES, parse_id, typed_id
from memoryhub.common.text import check_text
from memoryhub.common.times import format_time, parse_time
from spaces.domain.checks import KIB, check_json, check_length
from spaces.domain.kinds import Arrival, Outcome, Row, RowRefused
from spaces.domain.quotas import check_quota
from spaces.models.scoped import Version

M = TypeVar("M", bound=Tenant)
T = TypeVar("T")

UTC = ZoneInfo("UTC")
TRUST = "external"
WRITER = "import:"
WRITER_LENGTH = 80
MOST = 2**31 - 1
REDACTIONS = 64 * KIB
BATCH = 500

# What importing changes by itself, and what only counts how often something was looked at.
OUR_OWN = frozenset({"id", "trust", "written_by"})
COUNTED = frozenset({"recall_count", "last_recalled_at", "seen_count", "last_seen_at"})


class Fields:
    """A row of a file, whose every field is what it has to be or is refused by its name."""

    def __init__(self, row: Any) -> None:
        if not isinstance(row, dict):
            raise ValidationFailed({"row": ["Must be a JSON object."]})
        check_text(row)
        self.row: Row = row

    def text(self, name: str, default: str | None = None) -> str:
        return self._of(name, str, "a text", default)

    def flag(self, name: str, default: bool = False) -> bool:
        return self._of(name, bool, "true or false", default)

    def whole(self, name: str, default: int, *, least: int = 0) -> int:
        value = self._of(name, int, "a whole number", default)
        if isinstance(value, bool) or not least <= value <= MOST:
            raise self.refused(name, f"Must be a whole number from {least}.")
        return value

    def number(self, name: str, default: float) -> float:
        value = self.row.get(name)
        if value is None:
            return default
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise self.refused(name, "Must be a number.")
        return value

    def mapping(self, name: str) -> dict[str, Any]:
        return self._of(name, dict, "an object", {})

    def items(self, name: str) -> list[Any]:
        return self._of(name, list, "a list", [])

    def texts(self, name: str) -> list[str]:
        items = self.items(name)
        if not all(isinstance(item, str) for item in items):
            raise self.refused(name, "Must be a list of texts.")
        return items

    def one_of(self, name: str, names: Sequence[str]) -> str:
        """The first is meant where nothing is said."""
        value = self.text(name, names[0])
        if value not in names:
            raise self.refused(name, f"Must be one of {', '.join(names)}.")
        return value

    def moment(self, name: str, default: datetime) -> datetime:
        return self.moment_or_none(name) or default

    def moment_or_none(self, name: str) -> datetime | None:
        text = self.text(name, "")
        return parse_time(text, UTC, field=name) if text else None

    def label(self, name: str, limit: int) -> str:
        """A text of so many characters, or nothing."""
        text = self.text(name, "")
        check_length(text, limit, name)
        return text

    def ids(self, name: str, prefix: str) -> list[UUID]:
        return [Fields({name: id}).id(name, prefix) for id in self.texts(name)]

    def id(self, name: str, prefix: str) -> UUID:
        text = self.text(name, "")
        try:
            return parse_id(prefix, text)
        except NotFound:
            raise self.refused(name, f"Must be the id of a {ID_PREFIXES[prefix]}.") from None

    def refused(self, name: str, message: str) -> ValidationFailed:
        return ValidationFailed({name: [message]})

    def _of(self, name: str, kind: type[T], words: str, default: T | None) -> T:
        value = self.row.get(name)
        if value is None and default is not None:
            return default
        if not isinstance(value, kind):
            raise self.refused(name, f"Must be {words}.")
        return value


@dataclass(frozen=True)
class Shape(Generic[M]):
    """How rows of a kind become objects of its model.

    `read` makes an unsaved object of a row, checked, with everything but id, account and versions. `tell` is what
    of it leaves, but for its versions, and `state` what an earlier version keeps. Of rows with the same `place`
    there can be one; `standing` finds those that stand in such places, and of them only the fields in `stated`
    are compared. `links` are fields that hold ids or name writers, which are others here. Where the version in
    force is kept among the others, `complete` adds it. `placing` is told of what is about to be stored, and
    `placed` of what was. `newer(one, stored)` says whether a row of the file is a later state of the one here,
    `settled(one, stored)` that the one here stays whatever the file says: it was decided on, or is under way.
    """

    prefix: str
    model: type[M]
    read: Callable[[Arrival, Fields], M]
    tell: Callable[[M], Row]
    place: Callable[[M], Hashable]
    standing: Callable[[Arrival, Sequence[M]], Iterable[M]]
    stated: tuple[str, ...]
    event: tuple[str, str]
    state: Callable[[M], Row] | None = None
    version: type[Version] | None = None
    owner: str = ""
    complete: Callable[[M, list[Any]], list[Any]] | None = None
    links: tuple[str, ...] = ()
    newer: Callable[[M, M], bool] = lambda one, stored: (
        getattr(one, "version", 0) > getattr(stored, "version", 0)
    )
    settled: Callable[[M, M], bool] = lambda one, stored: False
    placing: Callable[[Arrival, Sequence[M]], None] = lambda arrival, rows: None
    placed: Callable[[Arrival, Sequence[M]], None] = lambda arrival, rows: None

    @property
    def noun(self) -> str:
        return ID_PREFIXES[self.prefix]


@dataclass
class Arrived(Generic[M]):
    """A row of the file as an object, with its earlier versions."""

    index: int
    row: Row
    object: M
    versions: list[Any]
    original: UUID


def arrive(shape: Shape[M], arrival: Arrival, rows: Sequence[Row]) -> list[Outcome]:
    """See spaces.domain.kinds.Arriving."""
    arrived = [_read(shape, arrival, index, row) for index, row in enumerate(rows)]
    _check_once(shape, arrived)
    known = _known(shape, arrival, arrived)
    strangers = [a.object for a in arrived if a.object.pk not in known]
    standing = {shape.place(row): row for row in shape.standing(arrival, strangers)}
    outcomes: list[Outcome] = []
    new: list[Arrived[M]] = []
    for one in arrived:
        place = shape.place(one.object)
        if stored := known.get(one.object.pk):
            outcome = _beside_itself(shape, arrival, one, stored)
        elif place is not None and place in standing:
            outcome = _beside_twin(shape, one.object, standing[place])
        else:
            outcome = Outcome.NEW
            new.append(one)
            standing[place] = one.object
        outcomes.append(outcome)
    _store(shape, arrival, new)
    return outcomes


def versions_of(row: Any) -> list[Row]:
    """Its earlier versions as they leave, the oldest first."""
    return [
        {"version": v.version, "written_by": v.written_by, "written_at": format_time(v.written_at), **v.data}
        for v in sorted(row.versions.all(), key=lambda version: version.version)
    ]


def written_by(fields: Fields) -> str:
    return writer(fields, "written_by") or WRITER


def writer(fields: Fields, name: str) -> str:
    """Whoever the file names there, marked as such: no row of a file speaks for anybody here. "" for nobody."""
    named = fields.text(name, "").removeprefix(WRITER)
    return f"{WRITER}{named}"[:WRITER_LENGTH] if named else ""


def redactions(fields: Fields) -> list[Any]:
    found = fields.items("redactions")
    check_json(found, REDACTIONS, "redactions")
    return found


def _read(shape: Shape[M], arrival: Arrival, index: int, row: Row) -> Arrived[M]:
    try:
        fields = Fields(row)
        original = fields.id("id", shape.prefix)
        made = _made(shape, arrival, fields, original)
        versions = list(_versions(shape, arrival, fields, made))
        if shape.complete:
            versions = shape.complete(made, versions)
        return Arrived(index, row, made, versions, original)
    except HubError as error:
        raise RowRefused(index, error) from None


def _made(shape: Shape[M], arrival: Arrival, fields: Fields, original: UUID) -> M:
    made = shape.read(arrival, fields)
    made.id, made.account_id = arrival.id(original), arrival.account_id
    return made


def _versions(shape: Shape[M], arrival: Arrival, fields: Fields, made: M) -> Iterable[Any]:
    if shape.version is None or shape.state is None:
        return
    numbers: set[int] = set()
    for earlier in fields.items("versions"):
        said = Fields(earlier)
        as_it_was = shape.read(arrival, Fields({**fields.row, **said.row}))
        number = said.whole("version", 0, least=1)
        most = made.version if shape.complete else made.version - 1  # type: ignore[attr-defined]
        if number in numbers or number > most:
            raise fields.refused("versions", "Must be versions before this one, each once.")
        numbers.add(number)
        yield shape.version(
            account_id=arrival.account_id,
            version=number,
            data=shape.state(as_it_was),
            written_by=written_by(said),
            written_at=said.moment("written_at", arrival.now),
            **{f"{shape.owner}_id": made.id},
        )


def _known(shape: Shape[M], arrival: Arrival, arrived: Sequence[Arrived[M]]) -> dict[UUID, M]:
    """By the object's id: the row that came of it before, or of which the file's was made in this very place."""
    rows = _here(shape, arrival).in_bulk([id for a in arrived for id in (a.object.pk, a.original)])
    pairs = ((a.object.pk, rows.get(a.object.pk) or rows.get(a.original)) for a in arrived)
    return {id: row for id, row in pairs if row is not None}


def _here(shape: Shape[M], arrival: Arrival) -> Any:
    space_id = arrival.space.id if arrival.space else None
    rows: Any = shape.model._default_manager.filter(account_id=arrival.account_id, space_id=space_id)
    return rows.prefetch_related("versions") if shape.version else rows


def _check_once(shape: Shape[M], arrived: Sequence[Arrived[M]]) -> None:
    seen: set[UUID] = set()
    for one in arrived:
        if one.original in seen:
            raise RowRefused(one.index, ValidationFailed({"id": ["Is on an earlier line already."]}))
        seen.add(one.original)


def _beside_itself(shape: Shape[M], arrival: Arrival, one: Arrived[M], stored: M) -> Outcome:
    if shape.settled(one.object, stored):
        return Outcome.SAME
    if _told(shape, one.row, one.object, one.versions) == _told(shape, one.row, stored):
        return Outcome.SAME
    later = shape.newer(one.object, stored)
    return Outcome.CHANGED if later and _take_over(shape, arrival, one, stored) else Outcome.CONFLICTING


def _beside_twin(shape: Shape[M], one: M, twin: M) -> Outcome:
    said, there = shape.tell(one), shape.tell(twin)
    same = all(said[name] == there[name] for name in shape.stated)
    return Outcome.SAME if same else Outcome.CONFLICTING


def _told(shape: Shape[M], row: Row, object: M, versions: Sequence[Any] | None = None) -> Row:
    """What the row of the file says of the object, in a form in which one from a file and a stored one compare."""
    if shape.version is not None and versions is None:
        versions = object.versions.all()  # type: ignore[attr-defined]
    left = OUR_OWN | COUNTED | {*shape.links}
    said = {n: v for n, v in shape.tell(object).items() if n in row and n not in left}
    earlier = sorted((v.version, _without_trust(v.data)) for v in versions or ())
    return {**said, "versions": earlier if "versions" in row else None}


def _without_trust(data: Row) -> str:
    return repr(sorted((n, v) for n, v in data.items() if n not in OUR_OWN))


def _take_over(shape: Shape[M], arrival: Arrival, one: Arrived[M], stored: M) -> bool:
    """False where something else stands in the place that the later state would take."""
    one.object.id = stored.id
    shape.placing(arrival, [one.object])
    try:
        with transaction.atomic():
            one.object.save(force_update=True)
    except IntegrityError:
        return False
    if shape.version is not None:
        shape.version._default_manager.filter(**{shape.owner: stored.id}).delete()
        for version in one.versions:
            setattr(version, f"{shape.owner}_id", stored.id)
        shape.version._default_manager.bulk_create(one.versions)
    shape.placed(arrival, [one.object])
    return True


def _store(shape: Shape[M], arrival: Arrival, new: Sequence[Arrived[M]]) -> None:
    objects = [one.object for one in new]
    shape.placing(arrival, objects)
    shape.model._default_manager.bulk_create(objects, batch_size=BATCH)
    if shape.version is not None:
        shape.version._default_manager.bulk_create([v for one in new for v in one.versions], batch_size=BATCH)
    if objects:
        shape.placed(arrival, objects)
        space = arrival.space.id if arrival.space else None
        check_quota(shape.model, arrival.account_id, space)
        type, noun = shape.event
        record_events(arrival.actor, type, noun, {typed_id(shape.prefix, o.pk): space for o in objects})
