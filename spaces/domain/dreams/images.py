"""Before-images: a memory's row as it was, to the byte, and putting it back."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db.models import DateTimeField, UUIDField

from memoryhub.common.errors import Conflict
from memoryhub.common.times import format_time
from spaces.domain.memories.identity import identity_of
from spaces.domain.search.indexing import index_fields
from spaces.models import Memory, MemoryVersion

COUNTED = ("recall_count", "last_recalled_at", "seen_count", "last_seen_at")
"""What goes on counting whatever the text is; an undo takes no recall back."""
DERIVED = ("identity", "search_vector", "search_weights", "search_version")
FIXED = ("id", "account_id", "space_id", "created_at")

Image = dict[str, Any]
Mark = dict[str, Any]

_FIELDS = {
    field.attname: field
    for field in Memory._meta.concrete_fields
    if field.attname not in (*COUNTED, *DERIVED, *FIXED)
}


def image_of(memory: Memory) -> Image:
    """As plain JSON. Every column is in it but those that are counted, derived or never change."""
    return {"id": memory.id.hex, **{name: _plain(getattr(memory, name)) for name in _FIELDS}}


def mark_of(memory: Memory) -> Mark:
    """What tells whether the row is still as it was left: without its text."""
    return {
        "id": memory.id.hex,
        "version": memory.version,
        "at": format_time(memory.updated_at),
        "status": memory.status,
    }


def put_back(memory: Memory, image: Image) -> None:
    """The row, locked and with its space at hand, is again what the image says. Versions kept since then go.

    Conflict if another active memory says the same by now.
    """
    fields = {name: _read(name, image[name]) for name in _FIELDS if name in image}
    for name, value in fields.items():
        setattr(memory, name, value)
    derived = {"identity": identity_of(memory), **index_fields(memory, memory.space)}
    for name, value in derived.items():
        setattr(memory, name, value)
    twins = Memory.objects.identical_to(memory).exclude(id=memory.id)
    if memory.status == "active" and twins.exists():
        raise Conflict("Another memory says this by now.")
    MemoryVersion.objects.filter(
        account_id=memory.account_id, memory_id=memory.id, version__gte=memory.version
    ).delete()
    memory.save(update_fields=[*fields, *derived])


def given_in(image: Image) -> Mapping[str, Any]:
    """The image's fields that a writer gives, for putting it back over a later edit."""
    return {name: _read(name, image[name]) for name in _FIELDS if name in image}


def _plain(value: Any) -> Any:
    if isinstance(value, datetime):
        return format_time(value)
    return value.hex if isinstance(value, UUID) else value


def _read(name: str, value: Any) -> Any:
    field = _FIELDS[name]
    if value is None:
        return None
    if isinstance(field, DateTimeField):
        return datetime.fromisoformat(value)
    kind = getattr(field, "target_field", field)
    return UUID(value) if isinstance(kind, UUIDField) else value
