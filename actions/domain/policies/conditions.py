"""What a rule may ask of a payload, class by class. All conditions of a rule have to hold."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import date, datetime
from typing import Any

from actions.domain.policies.recipients import (
    Payload,
    everybody_in,
    everybody_of,
    is_address,
    is_domain,
    somebody_in,
    somebody_of,
)
from memoryhub.common.canonical import canonical_json
from memoryhub.common.errors import ValidationFailed

MOST, LONGEST = 100, 300
PINNED = "payload"
NOT_OF_CLASS = "Is no condition of this class."

Holds = Callable[[Payload, Any], bool]


@dataclass(frozen=True)
class Condition:
    """`kind` is what its value is: names (a list), number, or yes. A payload that lacks what it is about fails it.

    Where a payload may have several of what it is about, `touches` is whether any of them is meant; without it that
    is what `holds` says.
    """

    kind: str
    label: str
    holds: Holds
    touches: Holds | None = None


def satisfies(class_name: str, payload: Payload, conditions: Mapping[str, Any]) -> bool:
    """All of it is as the conditions say: what a rule that approves has to know."""
    known = conditions_of(class_name)
    return all(name in known and known[name].holds(payload, wanted) for name, wanted in conditions.items())


def touches(class_name: str, payload: Payload, conditions: Mapping[str, Any]) -> bool:
    """Any of it is as the conditions say: what holds back a payload whatever else was put beside it."""
    known = conditions_of(class_name)
    return all(
        name in known and (known[name].touches or known[name].holds)(payload, wanted)
        for name, wanted in conditions.items()
    )


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
        return NOT_OF_CLASS
    return "" if KINDS[condition.kind](value) else f"Must be {WORDS[condition.kind]}."


def _is_names(value: Any) -> bool:
    return (
        isinstance(value, list)
        and 0 < len(value) <= MOST
        and all(isinstance(v, str) and 0 < len(v) <= LONGEST for v in value)
    )


KINDS: dict[str, Callable[[Any], bool]] = {
    "names": _is_names,
    "domains": lambda value: _is_names(value) and all(map(is_domain, value)),
    "addresses": lambda value: _is_names(value) and all(map(is_address, value)),
    "number": lambda value: isinstance(value, int) and not isinstance(value, bool) and value >= 0,
    "yes": lambda value: value is True,
    "members": lambda value: isinstance(value, dict) and 0 < len(value) <= MOST,
}
WORDS = {
    "names": f"a list of 1 to {MOST} names",
    "domains": f"a list of 1 to {MOST} domains, like acme.example, or *.acme.example for all below it",
    "addresses": f"a list of 1 to {MOST} e-mail addresses",
    "number": "a whole number from 0",
    "yes": "true",
    "members": "an object with the members that are pinned",
}


def _one_of(*members: str, spelt: Callable[[str], str]) -> Holds:
    """Both sides are brought into one spelling: a rule must not be passed by under another of the same name."""

    def holds(payload: Payload, names: Any) -> bool:
        wanted = {spelt(name) for name in names}
        return any(spelt(payload[member]) in wanted for member in members if member in payload)

    return holds


def _channel(name: str) -> str:
    return name.strip().removeprefix("#")


def _channel_in_any_case(name: str) -> str:
    """For what holds back. What approves keeps apart a channel's id and another channel of that name."""
    return _channel(name).lower()


def _repository(name: str) -> str:
    """GitHub takes them in any case."""
    return name.strip().lower()


def _notion_id(name: str) -> str:
    """With hyphens or, as in addresses of pages, without."""
    return name.strip().replace("-", "").lower()


def _or_nobody(member: str, holds: Holds) -> Holds:
    """Inviting nobody is within everything."""
    return lambda payload, names: not payload.get(member) or holds(payload, names)


def _at_most(member: str) -> Holds:
    return lambda payload, most: len(payload.get(member, "")) <= most


def _without(*members: str) -> Holds:
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


def _pins_any(payload: Payload, members: Mapping[str, Any]) -> bool:
    """Of a list, one entry is enough: an entry beside it would else free the rest."""
    return all(_meets(payload.get(name), value) for name, value in members.items())


def _meets(found: Any, pinned: Any) -> bool:
    if isinstance(found, list) and isinstance(pinned, list) and pinned:
        return any(_same(one, other) for one in found for other in pinned)
    return _same(found, pinned)


def _same(one: Any, other: Any) -> bool:
    return canonical_json(one) == canonical_json(other)


def _no_mention(payload: Payload, yes: Any) -> bool:
    return not any("@" in text for text in _texts(payload, ("title", "body"))) and not payload.get(
        "assignees"
    )


def _texts(payload: Payload, members: Iterable[str]) -> list[str]:
    return [str(payload.get(member, "")) for member in members]


CHANNEL = ("channel", "channel_name")
RECIPIENTS = ("to", "cc")
INVITED = ("attendees", "calendar_id")
"""A calendar is named by its owner's address."""

ANY_CLASS = {PINNED: Condition("members", "exactly these members", _pins, _pins_any)}
BY_CLASS: dict[str, dict[str, Condition]] = {
    "slack.send": {
        "channels": Condition(
            "names",
            "channels",
            _one_of(*CHANNEL, spelt=_channel),
            _one_of(*CHANNEL, spelt=_channel_in_any_case),
        ),
        "max_length": Condition("number", "characters at most", _at_most("text")),
        "no_mentions": Condition("yes", "notifies nobody by name", _without("mentions")),
    },
    "gmail.reply": {
        "domains": Condition("domains", "recipients at", everybody_in(*RECIPIENTS), somebody_in(*RECIPIENTS)),
        "recipients": Condition(
            "addresses", "recipients", everybody_of(*RECIPIENTS), somebody_of(*RECIPIENTS)
        ),
        "max_length": Condition("number", "characters at most", _at_most("body")),
    },
    "calendar.create": {
        "domains": Condition(
            "domains", "guests at", _or_nobody("attendees", everybody_in("attendees")), somebody_in(*INVITED)
        ),
        "recipients": Condition(
            "addresses", "guests", _or_nobody("attendees", everybody_of("attendees")), somebody_of(*INVITED)
        ),
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
