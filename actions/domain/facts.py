"""What we work out ourselves about a payload, for the person who decides: nothing here is the agent's word."""

import re
import unicodedata
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any
from urllib.parse import urlsplit

from accounts.domain.accounts import mail_domains
from actions.domain.comparison import AGREED
from actions.models import Action, ActionRevision
from memoryhub.common.oddities import count_odd
from memoryhub.common.times import zone

LINK = re.compile(r"https?://[^\s<>\"'()\[\]{}|\\^`]+", re.IGNORECASE)
ADDRESS = re.compile(r"[\w.+-]+@[\w-]+(?:\.[\w-]+)+")
BROADCAST = re.compile(r"<!(?:channel|here|everyone)>|(?<![\w.])@(?:channel|here|everyone)\b")
MOMENT = re.compile(r"\d{4}-\d{2}-\d{2}[T ]\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?(?:Z|[+-]\d{2}:?\d{2})?")
WORD = re.compile(r"[^\W\d_]+(?:[.@-][^\W\d_]+)*")
CONFUSABLE = ("LATIN", "CYRILLIC", "GREEK", "ARMENIAN", "CHEROKEE")


class Matter(StrEnum):
    HIDDEN = "hidden"  # characters that can't be seen or that reorder text
    MIXED = "mixed"  # words with letters of several alphabets
    OUTSIDE = "outside"  # recipients whose address is not of the team's own domains
    INSIDE = "inside"
    FIRST_TIME = "first_time"  # recipients in no action of this space that was agreed to before
    BROADCAST = "broadcast"
    LINKS = "links"  # the hosts
    TIMES = "times"
    SIZE = "size"


@dataclass(frozen=True)
class Fact:
    """`items` are the recipients, hosts or words it is about; `count` a number where it is about one."""

    matter: Matter
    items: tuple[str, ...] = ()
    count: int = 0
    times: tuple["Moment", ...] = ()


@dataclass(frozen=True)
class Moment:
    """A time of the payload where the space is. `given` is how it stands there; `assumed`: it names no offset."""

    given: str
    local: datetime
    assumed: bool


def facts_of(action: Action) -> list[Fact]:
    """What matters most comes first. Needs `with_current()`."""
    texts = list(texts_in(action.current.payload))
    recipients = found(ADDRESS, texts)
    domains = mail_domains(action.account_id)
    facts = [
        Fact(Matter.HIDDEN, count=sum(map(count_odd, texts))),
        Fact(Matter.MIXED, mixed_words(texts)),
        Fact(Matter.OUTSIDE, tuple(r for r in recipients if not is_inside(r, domains))),
        Fact(Matter.FIRST_TIME, first_time(action, recipients)),
        Fact(Matter.BROADCAST, found(BROADCAST, texts)),
        Fact(Matter.INSIDE, tuple(r for r in recipients if is_inside(r, domains))),
        Fact(Matter.LINKS, hosts(texts)),
        Fact(Matter.TIMES, times=moments(texts, action)),
    ]
    size = Fact(Matter.SIZE, count=len(action.current.payload_json.encode()))
    return [*(fact for fact in facts if fact.items or fact.count or fact.times), size]


def warnings_in(action: Action, domains: frozenset[str]) -> list[Matter]:
    """The same without queries of its own, for rows: what should make a reader stop."""
    texts = list(texts_in(action.current.payload))
    outside = any(not is_inside(r, domains) for r in found(ADDRESS, texts))
    told = {
        Matter.HIDDEN: any(map(count_odd, texts)),
        Matter.MIXED: bool(mixed_words(texts)),
        Matter.OUTSIDE: outside,
        Matter.BROADCAST: bool(found(BROADCAST, texts)),
    }
    return [matter for matter, holds in told.items() if holds]


def texts_in(value: Any) -> Iterator[str]:
    """Every string of a JSON value, names included."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for name, inner in value.items():
            yield name
            yield from texts_in(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from texts_in(inner)


def found(pattern: re.Pattern[str], texts: Iterable[str]) -> tuple[str, ...]:
    """Each match once, in order."""
    return tuple(dict.fromkeys(match for text in texts for match in pattern.findall(text)))


def hosts(texts: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(filter(None, map(_host, found(LINK, texts)))))


def _host(link: str) -> str:
    """With the user part, where a link has one: it is there to be mistaken for the host."""
    try:
        return urlsplit(link).netloc
    except ValueError:
        return link


def is_inside(recipient: str, domains: frozenset[str]) -> bool:
    return recipient.rpartition("@")[2].lower() in domains


def mixed_words(texts: Iterable[str]) -> tuple[str, ...]:
    words = (word for text in texts if not text.isascii() for word in WORD.findall(text))
    return tuple(dict.fromkeys(word for word in words if len(_alphabets(word)) > 1))


def _alphabets(word: str) -> set[str]:
    names = {unicodedata.name(letter, "").split(" ")[0] for letter in word if letter.isalpha()}
    return names.intersection(CONFUSABLE)


def first_time(action: Action, recipients: Iterable[str]) -> tuple[str, ...]:
    agreed = ActionRevision.objects.filter(
        account_id=action.account_id, space_id=action.space_id, action__status__in=AGREED
    ).exclude(action_id=action.id)
    return tuple(r for r in recipients if not agreed.filter(payload_json__contains=r).exists())


def moments(texts: Iterable[str], action: Action) -> tuple[Moment, ...]:
    there = zone(action.space.time_zone)
    whole = dict.fromkeys(text for text in texts if MOMENT.fullmatch(text.strip()))
    return tuple(
        _moment(text, datetime.fromisoformat(text.strip()), there) for text in whole if _is_moment(text)
    )


def _is_moment(text: str) -> bool:
    try:
        datetime.fromisoformat(text.strip())
    except ValueError:
        return False
    return True


def _moment(given: str, at: datetime, there: Any) -> Moment:
    assumed = at.tzinfo is None
    return Moment(given, at.replace(tzinfo=there) if assumed else at.astimezone(there), assumed)
