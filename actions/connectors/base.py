"""What the classes that our own worker carries out share: how a payload is read, and what is sent of it.

A payload is brought into one form before it is stored, shown and hashed. Reading that form again gives the
same, and the call is a function of it and of the action's id alone: nothing is transformed after approval.
"""

import unicodedata
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar
from zoneinfo import ZoneInfo

from pydantic import BaseModel, ConfigDict, ValidationError

from memoryhub.common.complaints import complaint, field_path
from memoryhub.common.errors import ValidationFailed
from memoryhub.common.text import is_blank

P = TypeVar("P", bound="Payload")


class Payload(BaseModel):
    """Exact types, and no member that nobody knows: what would be ignored could not be consented to."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


@dataclass(frozen=True)
class Call:
    """One request to a vendor: the path below its address, and the body as JSON, or as a form."""

    method: str
    path: str
    body: dict[str, Any] | None = None
    query: Mapping[str, str | Sequence[str]] = field(default_factory=dict)
    form: dict[str, str] | None = None


Given = Mapping[str, Any]
Normalise = Callable[[Given, ZoneInfo], dict[str, Any]]
Ask = Callable[[Call], dict[str, Any]]
"""Asks the vendor and gives back the JSON object it answers; raises what `client` raises."""


class Unresolvable(Exception):
    """The vendor doesn't know what a payload names. Its text is for people."""


@dataclass(frozen=True)
class Connector:
    """A class of actions: who carries it out for us, the version of its form, and what is sent.

    `call` takes a payload in that form and the action's typed id, by which `find` finds at the vendor what came of
    it (None: nothing is there, as far as one can see). `unresolved` names what only the vendor can add to a payload
    before a person may decide on it, and `resolve` adds it. `repeatable`: the vendor itself refuses a second one.
    """

    class_name: str
    vendor: str
    service: str
    version: int
    normalise: Normalise
    call: Callable[[Given, str], Call]
    find: Callable[[Ask, Given, str], dict[str, Any] | None]
    receipt: Callable[[dict[str, Any]], dict[str, Any]]
    unresolved: Callable[[Given], list[str]] = lambda payload: []
    resolve: Callable[[Ask, Given], dict[str, Any]] = lambda ask, payload: dict(payload)
    repeatable: bool = False


def read(model: type[P], payload: Mapping[str, Any]) -> P:
    """The payload as its model; a null member is an absent one."""
    given = {name: value for name, value in payload.items() if value is not None}
    try:
        return model.model_validate(given)
    except ValidationError as error:
        raise ValidationFailed(_faults(error)) from None


def refused(name: str, message: str) -> ValidationFailed:
    return ValidationFailed({f"payload.{name}": [message]})


def one_line(name: str, text: str, limit: int) -> str:
    """A text that goes into a header or a title."""
    text = text.strip()
    if is_blank(text):
        raise refused(name, "Must not be blank.")
    if any(unicodedata.category(c) in ("Cc", "Zl", "Zp") for c in text):
        raise refused(name, "Must be one line without control characters.")
    return limited(name, text, limit)


def many_lines(name: str, text: str, limit: int) -> str:
    """A text whose lines end in one way."""
    return limited(name, text.replace("\r\n", "\n").replace("\r", "\n"), limit)


def limited(name: str, text: str, limit: int) -> str:
    if len(text) > limit:
        raise refused(name, f"Must have at most {limit} characters; this has {len(text)}. Shorten it.")
    return text


def without_empty(members: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in members.items() if value not in (None, "", [])}


def _faults(error: ValidationError) -> dict[str, list[str]]:
    faults: dict[str, list[str]] = {}
    for fault in error.errors(include_url=False, include_input=False):
        faults.setdefault(f"payload.{field_path(fault['loc'])}", []).append(complaint(fault))
    return faults
