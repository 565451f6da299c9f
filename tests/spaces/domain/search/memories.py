"""Memories as a write would store them, without what a write checks."""

from typing import Any
from uuid import uuid4

from django.utils import timezone

from accounts.actor import Actor
from spaces.domain.search.indexing import index_fields
from spaces.models import Memory, Space


def make_memory(actor: Actor, space: Space | None, text: str, **fields: Any) -> Memory:
    now = timezone.now()
    moments = dict.fromkeys(("occurred_at", "last_seen_at", "created_at", "updated_at"), now)
    memory = Memory(
        account_id=actor.account_id,
        space=space,
        text=text,
        written_by=actor.key,
        identity=uuid4().bytes * 2,
        **moments | fields,
    )
    for name, value in index_fields(memory, space).items():
        setattr(memory, name, value)
    return memory


def store(actor: Actor, space: Space | None, *texts: str, **fields: Any) -> list[Memory]:
    return Memory.objects.bulk_create([make_memory(actor, space, text, **fields) for text in texts])
