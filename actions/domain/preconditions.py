"""Conditions that have to hold when an action is claimed."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from zoneinfo import ZoneInfo

from memoryhub.common.canonical import canonical_json
from memoryhub.common.errors import HubError, ValidationFailed
from memoryhub.common.ids import parse_id
from memoryhub.common.text import nfc
from memoryhub.common.times import format_time, parse_time
from spaces.models import Record, Space, Value

KV, RECORDS, NOT_BEFORE, NOT_AFTER = "kv", "records", "not_before", "not_after"
RECORD_FACTS = {"version": int, "status": str}
AT_MOST = 50


@dataclass(frozen=True)
class Check:
    """One condition in words. `holds` None: the server can't check it, a person has to."""

    name: str
    wanted: str
    holds: bool | None


def read_preconditions(given: dict[str, Any], zone: ZoneInfo) -> dict[str, Any]:
    """The conditions as they are stored: known ones checked for their form, times in UTC, others untouched."""
    read = dict(given)
    if KV in given:
        _expect(_is_map(given[KV]) and all(map(_is_entry, given[KV].items())), KV, KV_FORM)
    if RECORDS in given:
        _expect(
            _is_map(given[RECORDS]) and all(map(_is_record, given[RECORDS].items())), RECORDS, RECORDS_FORM
        )
    for name in (NOT_BEFORE, NOT_AFTER):
        if name in given:
            _expect(isinstance(given[name], str), name, "Must be a time as a string.")
            read[name] = format_time(parse_time(given[name], zone, field=f"preconditions.{name}"))
    return read


def check_preconditions(space: Space, conditions: dict[str, Any], now: datetime) -> list[Check]:
    """What holds at this moment, in a fixed order: values, records, times, then what only a person can check."""
    return [
        *_values(space, conditions.get(KV, {})),
        *_records(space, conditions.get(RECORDS, {})),
        *_times(conditions, now),
        *(
            Check(name, canonical_json(wanted).decode(), None)
            for name, wanted in conditions.items()
            if name not in (KV, RECORDS, NOT_BEFORE, NOT_AFTER)
        ),
    ]


KV_FORM = f'Must be like {{"namespace/key": 3}}: the version it has to have, 0 for absent; at most {AT_MOST}.'
RECORDS_FORM = (
    f'Must be like {{"rec_…": {{"version": 3}}}} or {{"rec_…": {{"status": "open"}}}}; at most {AT_MOST}.'
)


def _values(space: Space, wanted: dict[str, int]) -> Iterator[Check]:
    names = [nfc(name).split("/", 1) for name in wanted]
    rows = Value.objects.inside(space).filter(
        namespace__in=[n[0] for n in names], key__in=[n[1] for n in names]
    )
    versions = {f"{v.namespace}/{v.key}": v.version for v in rows}
    for name, version in wanted.items():
        said = f"at version {version}" if version else "absent"
        yield Check(f"{KV}.{name}", said, versions.get(nfc(name), 0) == version)


def _records(space: Space, wanted: dict[str, dict[str, Any]]) -> Iterator[Check]:
    ids = {ref: parse_id("rec", ref) for ref in wanted}
    rows = Record.objects.inside(space).filter(id__in=ids.values()).in_bulk()
    for ref, facts in wanted.items():
        record = rows.get(ids[ref])
        for fact, value in facts.items():
            holds = record is not None and getattr(record, fact) == value
            yield Check(f"{RECORDS}.{ref}.{fact}", str(value), holds)


def _times(conditions: dict[str, Any], now: datetime) -> Iterator[Check]:
    if start := conditions.get(NOT_BEFORE):
        yield Check(NOT_BEFORE, start, now >= datetime.fromisoformat(start))
    if end := conditions.get(NOT_AFTER):
        yield Check(NOT_AFTER, end, now <= datetime.fromisoformat(end))


def _is_map(value: object) -> bool:
    return isinstance(value, dict) and len(value) <= AT_MOST


def _is_entry(item: tuple[str, object]) -> bool:
    namespace, slash, key = item[0].partition("/")
    return bool(namespace and slash and key) and _is_count(item[1])


def _is_record(item: tuple[str, object]) -> bool:
    ref, facts = item
    try:
        parse_id("rec", ref)
    except HubError:
        return False
    return isinstance(facts, dict) and bool(facts) and all(map(_is_fact, facts.items()))


def _is_fact(item: tuple[str, object]) -> bool:
    name, value = item
    return _is_count(value) if name == "version" else name == "status" and isinstance(value, str)


def _is_count(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


def _expect(holds: bool, name: str, form: str) -> None:
    if not holds:
        raise ValidationFailed({f"preconditions.{name}": [form]})
