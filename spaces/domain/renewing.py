"""What follows when a space has another name or time zone, which are part of what its memories are found by.

Words and vectors of before serve until those of now are there.
"""

from uuid import UUID

from accounts.domain.jobs import enqueue, enqueue_each
from spaces.domain.embeddings.configured import configured
from spaces.domain.embeddings.lane import EMBED, EMBEDDING
from spaces.domain.search.indexing import SEARCH_VERSION, index_fields
from spaces.models import Memory, Space

RENEW = "renew_space"
INDEX = "index_space"
"""Both in the main lane, for a space: everything it holds is out of date; some of it is to be made anew."""

OUTDATED = 0
BATCH = 500


def space_changed(space: Space) -> None:
    """To be called in the transaction that changes its name or its time zone."""
    enqueue(RENEW, space.account_id, space.id)


def renew_space(account_id: UUID, space_id: UUID) -> None:
    memories = Memory.objects.filter(account_id=account_id, space_id=space_id)
    memories.update(search_version=OUTDATED)
    enqueue(INDEX, account_id, space_id)
    if configured():
        enqueue_each(EMBED, account_id, list(memories.values_list("id", flat=True)), lane=EMBEDDING)


def index_some(account_id: UUID, space_id: UUID) -> None:
    """The next of its memories that are out of date; a job for the others follows. One that is being changed is left
    to who changes it."""
    outdated = Memory.objects.filter(account_id=account_id, space_id=space_id).exclude(
        search_version=SEARCH_VERSION
    )
    rows = outdated.select_related("space").select_for_update(of=("self",), no_key=True, skip_locked=True)
    batch = list(rows[:BATCH])
    for memory in batch:
        Memory.objects.filter(id=memory.id).update(**index_fields(memory, memory.space))
    if len(batch) == BATCH:
        enqueue(INDEX, account_id, space_id)
