"""Everything that one key or one conversation wrote, so that it can be looked at and forgotten in one go."""

from collections.abc import Iterable
from typing import Any
from uuid import UUID

from django.db.models import Q, QuerySet

from accounts.actor import Actor
from accounts.domain.keys import access_key
from memoryhub.common.errors import ValidationFailed
from memoryhub.common.ids import typed_id
from spaces.domain.access import access_space
from spaces.models import JournalEntry, Memory, Record


def written(actor: Actor, *, key: str = "", session: str = "") -> list[str]:
    """Typed ids of what stands in the space of the call as that key or conversation wrote it, held and expired
    memories included. What somebody else has changed since is theirs. Exactly one of the two is named.
    """
    if bool(key) == bool(session):
        raise ValidationFailed({"key": ["Name either a key or a session."]})
    space = access_space(actor)
    if session:
        of_it = Memory.objects.visible_to(actor).filter(space_id=space.id, session=session)
        return _typed("mem", _ids(of_it))
    writer = Q(written_by=f"key:{access_key(actor, key).id}", space_id=space.id)
    kinds = (("mem", Memory.objects), ("rec", Record.objects), ("jrn", JournalEntry.objects))
    return [
        id for prefix, rows in kinds for id in _typed(prefix, _ids(rows.visible_to(actor).filter(writer)))
    ]


def _ids(rows: QuerySet[Any]) -> Iterable[UUID]:
    return rows.order_by("id").values_list("id", flat=True)


def _typed(prefix: str, ids: Iterable[UUID]) -> list[str]:
    return [typed_id(prefix, id) for id in ids]
