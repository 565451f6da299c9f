"""What a rule may ask of a payload, class by class. All conditions of a rule have to hold."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import date, datetime
from typing import Any

from memoryhub.common.canonical import canonical_json
from memoryhub.common.errors import ValidationFailed

MOST, LONGEST = 100, 300
PINNED = "payload"

Payload = Mapping[str, Any]


@dataclass(frozen=True)
class Condition:
    """`kind` is what its value is: names (a list), number, or yes. A payload that lacks what it is about fails it."""

    kind: str
    label: str
    holds: Callable[[Payload, Any], bool]


def satisfies(class_name: str, payload: Payload, conditions: Mapping[str, Any]) -> bool:
    known = conditions_of(class_name)
    return all(name in known and known[name].holds(payload, wanted) for name, wanted in conditions.items())


def conditions_of(class_name: str) -> dict[str, Condition]:
    return {**BY_CLASS.get(class_name, {}), **ANY_CLASS}


def check_conditions(class_name: str, given: Mapping[str, Any]) -> dict[str, Any]:
    """As they are stored; an unknown one, or a value of the wrong kind, is refused by its name."""
    known = conditions_of(class_name)
    faults = {
        f"conditions.{name}": [fault]
        for name, value in given.items()
        if (fault := _fault(known.get(name), value))
    }
    if faults:
        raise ValidationFailed(faults)
    return dict(given)


def _fault(condition: Condition | None, value: Any) -> str:
    if condition is None:
        return "Is no condition of this class."
    return "" if KINDS[condition.kind](value) else f"Must be {WORDS[condition.kind]}."


def _is_names(value: Any) -> bool:
    return (
        isinstance(value, list)
        and 0 < len(value) <= MOST
        and all(isinstance(v, str) and 0 < len(v) <= LONGEST for v in value)
    )


KINDS: dict[str, Callable[[Any], bool]] = {
    "names": _is_names,
    "number": lambda value: isinstance(value, int) and not isinstance(value, bool) and value >= 0,
    "yes": lambda value: value is True,
    "members": lambda value: isinstance(value, dict) and 0 < len(value) <= MOST,
}
WORDS = {
    "names": f"a list of 1 to {MOST} names",
    "number": "a whole number from 0",
    "yes": "true",
    "members": "an object with the members that are pinned",
}


def _one_of(*members: str, spelt: Callable[[str], str]) -> Callable[[Payload, Any], bool]:
    """Both sides are brought into one spelling: a rule must not be passed by under another of the same name."""

    def holds(payload: Payload, names: Any) -> bool:
        wanted = {spelt(name) for name in names}
        return any(spelt(payload[member]) in wanted for member in members if member in payload)

    return holds


def _channel(name: str) -> str:
    return name.strip().removeprefix("#")


def _repository(name: str) -> str:
    """GitHub takes them in any case."""
    return name.strip().lower()


def _notion_id(name: str) -> str:
    """With hyphens or, as in addresses of pages, without."""
    return name.strip().replace("-", "").lower()


def _within(*members: str) -> Callable[[Payload, Any], bool]:
    """Every address of these members, of which there is at least one, has one of the domains."""

    def holds(payload: Payload, domains: Any) -> bool:
        found = [address for member in members for address in payload.get(member, [])]
        allowed = {domain.lower().lstrip("@") for domain in domains}
        return bool(found) and all(address.rpartition("@")[2].lower() in allowed for address in found)

    return holds


def _nobody_beside(member: str) -> Callable[[Payload, Any], bool]:
    """As `_within`, but inviting nobody is within everything."""
    return lambda payload, domains: not payload.get(member) or _within(member)(payload, domains)


def _at_most(member: str) -> Callable[[Payload, Any], bool]:
    return lambda payload, most: len(payload.get(member, "")) <= most


def _without(*members: str) -> Callable[[Payload, Any], bool]:
    return lambda payload, yes: not any(payload.get(member) for member in members)


def _lasts_at_most(payload: Payload, minutes: int) -> bool:
    try:
        start, end = (_moment(payload[edge]) for edge in ("start", "end"))
    except (KeyError, ValueError, TypeError):
        return False
    return (end - start).total_seconds() <= minutes * 60


def _moment(text: str) -> datetime:
    return (
        datetime.fromisoformat(text)
        if "T" in text
        else datetime.combine(date.fromisoformat(text), datetime.min.time())
    )


def _pins(payload: Payload, members: Mapping[str, Any]) -> bool:
    return all(_same(payload.get(name), value) for name, value in members.items())


def _same(one: Any, other: Any) -> bool:
    return canonical_json(one) == canonical_json(other)


def _no_mention(payload: Payload, yes: Any) -> bool:
    return not any("@" in text for text in _texts(payload, ("title", "body"))) and not payload.get(
        "assignees"
    )


def _texts(payload: Payload, members: Iterable[str]) -> list[str]:
    return [str(payload.get(member, "")) for member in members]


ANY_CLASS = {PINNED: Condition("members", "exactly these members", _pins)}
BY_CLASS: dict[str, dict[str, Condition]] = {
    "slack.send": {
        "channels": Condition("names", "channels", _one_of("channel", "channel_name", spelt=_channel)),
        "max_length": Condition("number", "characters at most", _at_most("text")),
        "no_mentions": Condition("yes", "notifies nobody by name", _without("mentions")),
    },
    "gmail.reply": {
        "domains": Condition("names", "all recipients at", _within("to", "cc")),
        "max_length": Condition("number", "characters at most", _at_most("body")),
    },
    "calendar.create": {
        "domains": Condition("names", "all guests at", _nobody_beside("attendees")),
        "max_minutes": Condition("number", "minutes at most", _lasts_at_most),
        "no_mail": Condition("yes", "guests get no mail", _without("notify")),
    },
    "github.create_issue": {
        "repositories": Condition("names", "repositories", _one_of("repo", spelt=_repository)),
        "max_length": Condition("number", "characters at most", _at_most("body")),
        "no_mentions": Condition("yes", "notifies nobody by name", _no_mention),
    },
    "notion.create_page": {
        "parents": Condition("names", "below", _one_of("parent_id", spelt=_notion_id)),
        "max_blocks": Condition("number", "blocks at most", _at_most("children")),
    },
}
