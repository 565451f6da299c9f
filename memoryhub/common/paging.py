"""Lists in pages, ordered by time and id, and cut by size.

A page token says where the next page begins. It is signed and bound to who asked and to the filters: sent by
somebody else, or with other filters, it is a bad token.
"""

import json
import uuid
from bisect import bisect_left
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from functools import reduce
from operator import and_, or_
from typing import Any, Generic, TypeVar

from django.conf import settings
from django.core import signing
from django.core.exceptions import FieldDoesNotExist
from django.db.models import F, Model, Q, QuerySet
from django.db.models.expressions import OrderBy

from memoryhub.common.canonical import digest
from memoryhub.common.errors import InvalidRequest, ValidationFailed
from memoryhub.common.text import excerpt

M = TypeVar("M", bound=Model)
T = TypeVar("T")

NEWEST_FIRST = ("-created_at", "-id")
MAX_TOKEN = 2_000
SHORTEST = 80

Position = tuple[Any, ...]
"""The values of the order's fields in the last row of a page."""


@dataclass(frozen=True)
class Page(Generic[T]):
    """Some items of a list. An empty `next_token` says that there are no more."""

    items: list[T]
    next_token: str = ""
    token_after: Callable[[T], str] | None = None

    def shown(self, show: Callable[[T], dict[str, Any]], limit: int | None = None) -> "Page[dict[str, Any]]":
        """The page as plain JSON, cut by size; the token then continues after the last item that is kept."""
        kept, cut = cut_by_size([show(item) for item in self.items], limit)
        if cut and self.token_after:
            return Page(kept, self.token_after(self.items[len(kept) - 1]))
        return Page(kept, self.next_token)


def page_of(
    queryset: QuerySet[M],
    *,
    token: str | None,
    size: int,
    actor_key: str,
    filters: Mapping[str, Any],
    order: Sequence[str] = NEWEST_FIRST,
    field: str = "page_token",
) -> Page[M]:
    """The page at `token` (none or "" = the first). `field` is what the caller's argument is called."""
    bound = {**filters, "*order": list(order)}
    position = decode_token(token, actor_key, bound, field=field) if token else None
    rows, following = keyset(queryset, position, size, order)

    def token_after(row: M) -> str:
        return encode_token(actor_key, bound, position_of(row, order))

    return Page(rows, encode_token(actor_key, bound, following) if following else "", token_after)


def page_size(value: int | None, default: int, maximum: int, *, field: str = "page_size") -> int:
    """0 or none is the default, too many is the maximum."""
    if value is not None and value < 0:
        raise ValidationFailed({field: ["Must not be negative. Send 0 for the default."]})
    return min(value or default, maximum)


def encode_token(actor_key: str, filters: Mapping[str, Any], position: Position) -> str:
    return _signer(actor_key, filters).sign_object([_packed(value) for value in position], compress=True)


def decode_token(
    token: str, actor_key: str, filters: Mapping[str, Any], *, field: str = "page_token"
) -> Position:
    try:
        if len(token) > MAX_TOKEN:
            raise signing.BadSignature
        values = _signer(actor_key, filters).unsign_object(token)
    except (signing.BadSignature, ValueError):
        raise InvalidRequest(
            f"{field}: Is not a token of this list. Send the one from its last answer with the same "
            "arguments, or none to begin anew."
        ) from None
    return tuple(_unpacked(value) for value in values)


def keyset(
    queryset: QuerySet[M], position: Position | None, size: int, order: Sequence[str] = NEWEST_FIRST
) -> tuple[list[M], Position | None]:
    """The rows after `position`, and the position that the next page begins at (None at the end).

    The order ends in a unique field. Nulls come last in either direction. One query.
    """
    keys = [_Key.of(queryset, name) for name in order]
    if position is not None:
        queryset = queryset.filter(_after(keys, position))
    rows = list(queryset.order_by(*(key.ordering() for key in keys))[: size + 1])
    more = len(rows) > size
    return rows[:size], position_of(rows[size - 1], order) if more else None


def position_of(row: Model, order: Sequence[str] = NEWEST_FIRST) -> Position:
    return tuple(reduce(getattr, name.lstrip("-").split("__"), row) for name in order)


def cut_by_size(items: Sequence[T], limit: int | None = None) -> tuple[list[T], bool]:
    """The first items whose compact JSON stays within `limit` characters (else the ANSWER_CHARS setting), but
    always one; and whether some were left out.
    """
    room = (settings.ANSWER_CHARS if limit is None else limit) - len("[")
    kept: list[T] = []
    for item in items:
        room -= json_chars(item) + len(",")
        if room < 0 and kept:
            return kept, True
        kept.append(item)
    return kept, False


def shorten_texts(
    items: Sequence[dict[str, Any]], *fields: str, limit: int | None = None
) -> list[dict[str, Any]]:
    """For answers that have no token: where the items are too large together, their texts in `fields` are cut
    to a common length (never under SHORTEST characters), and those that lost some say `truncated: true`.
    """
    room = settings.ANSWER_CHARS if limit is None else limit
    if json_chars(items) <= room:
        return list(items)
    longest = max((len(_text(item, field)) for item in items for field in fields), default=0)
    # The greatest length that still fits, found by halving.
    length = bisect_left(
        range(SHORTEST + 1, longest + 1),
        True,
        key=lambda candidate: json_chars([_shortened(item, fields, candidate) for item in items]) > room,
    )
    return [_shortened(item, fields, SHORTEST + length) for item in items]


def json_chars(value: Any) -> int:
    """Characters of the compact JSON."""
    return len(json.dumps(value, ensure_ascii=False, separators=(",", ":")))


@dataclass(frozen=True)
class _Key:
    """One field of an order."""

    name: str
    descending: bool
    nullable: bool

    @classmethod
    def of(cls, queryset: QuerySet[M], name: str) -> "_Key":
        plain = name.removeprefix("-")
        return cls(plain, plain != name, _is_nullable(queryset.model, plain))

    def ordering(self) -> OrderBy:
        last = True if self.nullable else None
        field = F(self.name)
        return field.desc(nulls_last=last) if self.descending else field.asc(nulls_last=last)

    def beyond(self, value: Any, *, inclusive: bool = False) -> Q:
        """Rows that come after `value` (or at it)."""
        if value is None:
            return self.at(None) if inclusive else Q(pk__in=[])
        comparison = ("lt" if self.descending else "gt") + ("e" if inclusive else "")
        further = Q(**{f"{self.name}__{comparison}": value})
        return further | self.at(None) if self.nullable else further

    def at(self, value: Any) -> Q:
        return Q(**({f"{self.name}__isnull": True} if value is None else {self.name: value}))


def _is_nullable(model: type[Model], name: str) -> bool:
    """What isn't a field of the model itself, such as an annotation, may be null."""
    try:
        return bool(getattr(model._meta.get_field(name), "null", True))
    except FieldDoesNotExist:
        return True


def _after(keys: Sequence[_Key], position: Position) -> Q:
    """Beyond in the first field, or equal there and beyond in the second, and so on.

    The bound on the first field says nothing new, but lets an index begin there.
    """
    pairs = list(zip(keys, position, strict=True))
    ways = [
        reduce(and_, [earlier.at(there) for earlier, there in pairs[:index]], key.beyond(value))
        for index, (key, value) in enumerate(pairs)
    ]
    first, value = pairs[0]
    return first.beyond(value, inclusive=True) & reduce(or_, ways)


def _signer(actor_key: str, filters: Mapping[str, Any]) -> signing.Signer:
    """The binding is in the salt, so that it costs a token no length. A filter that is none is no filter."""
    asked = {name: value for name, value in filters.items() if value is not None}
    plain = json.loads(json.dumps([actor_key, asked], default=_plain))
    return signing.Signer(salt=f"memoryhub.page:{digest(plain)}")


def _plain(value: object) -> object:
    if isinstance(value, set | frozenset):
        return sorted(str(item) for item in value)
    return value.isoformat() if isinstance(value, date) else str(value)


def _packed(value: Any) -> Any:
    match value:
        case uuid.UUID():
            return {"u": value.hex}
        case datetime():
            return {"t": value.isoformat()}
        case date():
            return {"d": value.isoformat()}
        case _:
            return value


def _unpacked(value: Any) -> Any:
    match value:
        case {"u": text}:
            return uuid.UUID(text)
        case {"t": text}:
            return datetime.fromisoformat(text)
        case {"d": text}:
            return date.fromisoformat(text)
        case _:
            return value


def _text(item: dict[str, Any], field: str) -> str:
    value = item.get(field)
    return value if isinstance(value, str) else ""


def _shortened(item: dict[str, Any], fields: Iterable[str], length: int) -> dict[str, Any]:
    cut = {field: excerpt(text, length) for field in fields if len(text := _text(item, field)) > length}
    return {**item, **cut, "truncated": True} if cut else item
