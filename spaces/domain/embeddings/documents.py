"""What of a memory is embedded."""

from dataclasses import dataclass
from datetime import UTC
from functools import cached_property

from memoryhub.common.text import text_hash
from memoryhub.common.times import zone
from spaces.domain.search.passage import heading
from spaces.embedding.chunks import chunks
from spaces.models import Memory
from spaces.models.memories import MemoryQuerySet

FIELDS = ("occurred_at", "agent", "decided_by", "tags", "subject", "text")
SPACE_FIELDS = ("space__name", "space__time_zone")


@dataclass(frozen=True)
class Document:
    header: str
    text: str

    @cached_property
    def hash(self) -> bytes:
        """Tells whether vectors are of this document."""
        return text_hash(f"{self.header}\0{self.text}")

    @cached_property
    def chunks(self) -> list[str]:
        return chunks(self.header, self.text)


def readable(memories: MemoryQuerySet) -> MemoryQuerySet:
    """With no more of each than its document takes, and its space at hand."""
    return memories.select_related("space").only("account_id", "space_id", *FIELDS, *SPACE_FIELDS)


def document(memory: Memory) -> Document:
    """Its space must be at hand."""
    space = memory.space
    header = heading(
        said_at=memory.occurred_at,
        zone=zone(space.time_zone) if space else UTC,
        actor=memory.agent or memory.decided_by,
        space=space.name if space else "",
        tags=memory.tags,
        subject=memory.subject,
    )
    return Document(header, memory.text)
