"""One walk over every string and every name of a JSON value."""

import re
from collections import Counter
from collections.abc import Container, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from memoryhub.common.secrets.finding import find
from memoryhub.common.secrets.names import holds
from memoryhub.common.secrets.spans import Span
from memoryhub.common.secrets.values import is_secret

MARKED = re.compile(r"\[REDACTED:([a-z0-9_]{1,40})\]")
DEEPEST = 200
NAMED = ("name", "key", "header", "field", "variable")
VALUED = ("value", "val", "content")


@dataclass
class Cut:
    """A value without its secrets, and what was cut. `secret` of `total` characters were secret."""

    value: Any = None
    categories: Counter[str] = field(default_factory=Counter)
    places: list[tuple[str | int, ...]] = field(default_factory=list)
    secret: int = 0
    total: int = 0

    @property
    def mostly_secret(self) -> bool:
        return self.secret * 2 > self.total

    @property
    def told(self) -> list[dict[str, Any]]:
        """For answers: categories and how many of each, never the values."""
        return counted(self.categories)


def counted(categories: Mapping[str, int]) -> list[dict[str, Any]]:
    return [{"category": name, "count": count} for name, count in sorted(categories.items())]


def cut(value: Any) -> Cut:
    """The value with every secret in it cut out, names of members included. It is not changed itself."""
    result = Cut()
    result.value = _walk(value, (), None, result)
    return result


def cut_text(text: str) -> tuple[str, list[Span]]:
    spans = find(text)
    return _without(text, spans), spans


def marked(*values: Any) -> list[dict[str, Any]]:
    """What was cut from these values before, by the marks that were left in them."""
    categories = Counter(name for value in values for text in strings(value) for name in MARKED.findall(text))
    return counted(categories)


def strings(value: Any) -> Iterator[str]:
    """Every string and every name of a JSON value."""
    stack = [value]
    while stack:
        one = stack.pop()
        if isinstance(one, str):
            yield one
        elif isinstance(one, Mapping):
            stack.extend(one.keys())
            stack.extend(one.values())
        elif isinstance(one, list | tuple):
            stack.extend(one)


def _walk(value: Any, place: tuple[str | int, ...], name: str | None, result: Cut) -> Any:
    if isinstance(value, str):
        return _text(value, place, name, result)
    if len(place) > DEEPEST:
        return value
    if isinstance(value, Mapping):
        return _members(value, place, result)
    if isinstance(value, list | tuple):
        return [_walk(item, (*place, i), name, result) for i, item in enumerate(value)]
    return value


def _members(value: Mapping[Any, Any], place: tuple[str | int, ...], result: Cut) -> dict[Any, Any]:
    described = _described(value)
    kept: dict[Any, Any] = {}
    numbers: Counter[str] = Counter()
    for key, item in value.items():
        name = described if described and key in VALUED else key if isinstance(key, str) else None
        walked = _walk(item, (*place, key), name, result)
        plain = _text(key, (*place, key), None, result) if isinstance(key, str) else key
        kept[_free(plain, kept, numbers) if plain != key else key] = walked
    return kept


def _described(value: Mapping[Any, Any]) -> str | None:
    """`{"name": "DB_PASSWORD", "value": …}`"""
    if not any(key in value for key in VALUED):
        return None
    return next((value[key] for key in NAMED if isinstance(value.get(key), str)), None)


def _free(name: str, taken: Container[Any], numbers: Counter[str]) -> str:
    """Two names that were cut stay two. `numbers` are given out already."""
    free = name
    while free in taken:
        numbers[name] += 1
        free = f"{name} {numbers[name] + 1}"
    return free


def _text(text: str, place: tuple[str | int, ...], name: str | None, result: Cut) -> str:
    result.total += len(text.strip())
    spans = _spans(text, name)
    if not spans:
        return text
    result.places.append(place)
    result.categories.update(span.category for span in spans)
    result.secret += sum(span.end - span.start for span in spans)
    return _without(text, spans)


def _spans(text: str, name: str | None) -> list[Span]:
    spans = find(text)
    kind = holds(name) if name else None
    stripped = text.strip()
    if kind and not spans and is_secret(stripped, kind, "structured"):
        start = len(text) - len(text.lstrip())
        return [Span(start, start + len(stripped), kind.value)]
    return spans


def _without(text: str, spans: list[Span]) -> str:
    pieces, last = [], 0
    for span in spans:
        pieces += [text[last : span.start], f"[REDACTED:{span.category}]"]
        last = span.end
    return "".join([*pieces, text[last:]])
