"""Who an action would reach, as we work it out ourselves from the payload: nothing here is the agent's word."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from accounts.domain.accounts import mail_domains
from actions.domain.comparison import AGREED
from actions.models import Action, ActionRevision
from memoryhub.common.odd import hiding_kinds, mixed_words

ADDRESS = re.compile(r"[\w.+-]+@[\w-]+(?:\.[\w-]+)+")
BROADCAST = re.compile(r"<!(?:channel|here|everyone)>|(?<![\w.])@(?:channel|here|everyone)\b")

HIDDEN, MIXED, OUTSIDE, EVERYONE = "hidden", "mixed", "outside", "everyone"


@dataclass(frozen=True)
class Reach:
    """`outside`: addresses that are not of the domains of the team's own members. `first_time`: those in no
    action of this space that was agreed to before. `everyone`: mentions that notify a whole channel."""

    inside: tuple[str, ...]
    outside: tuple[str, ...]
    first_time: tuple[str, ...]
    everyone: tuple[str, ...]


def reach_of(action: Action) -> Reach:
    """Needs `with_current()`."""
    texts = list(texts_in(action.current.payload))
    recipients, domains = found(ADDRESS, texts), mail_domains(action.account_id)
    return Reach(
        inside=tuple(r for r in recipients if is_inside(r, domains)),
        outside=tuple(r for r in recipients if not is_inside(r, domains)),
        first_time=first_time(action, recipients),
        everyone=found(BROADCAST, texts),
    )


def warnings_in(action: Action, domains: frozenset[str]) -> list[str]:
    """What should make a reader of a list stop, without a query: hidden, mixed, outside, everyone."""
    texts = list(texts_in(action.current.payload))
    told = {
        HIDDEN: any(map(hiding_kinds, texts)),
        MIXED: any(map(mixed_words, texts)),
        OUTSIDE: any(not is_inside(r, domains) for r in found(ADDRESS, texts)),
        EVERYONE: bool(found(BROADCAST, texts)),
    }
    return [warning for warning, holds in told.items() if holds]


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


def is_inside(recipient: str, domains: frozenset[str]) -> bool:
    return recipient.rpartition("@")[2].lower() in domains


def first_time(action: Action, recipients: Iterable[str]) -> tuple[str, ...]:
    agreed = ActionRevision.objects.filter(
        account_id=action.account_id, space_id=action.space_id, action__status__in=AGREED
    ).exclude(action_id=action.id)
    return tuple(r for r in recipients if not agreed.filter(payload_json__contains=r).exists())
