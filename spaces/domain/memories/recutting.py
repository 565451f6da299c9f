"""A memory out of which a secret is cut long after it was written: the same memory, in the same version."""

from django.db import IntegrityError, transaction

from memoryhub.common.secrets import marked
from spaces.domain.embeddings.pending import drop_outdated, embed_later
from spaces.domain.memories.changing import IDENTITY, assign
from spaces.domain.memories.fields import told
from spaces.domain.memories.identity import identity_of
from spaces.domain.search.indexing import index_fields
from spaces.models import Memory

GIVEN = (
    "text", "subject", "topics", "tags", "path", "source_ref", "links", "metadata", "decided_by", "agent",
    "agent_instance", "device_label", "session",
)  # fmt: skip


def save_cut(memory: Memory, fields: list[str]) -> None:
    """With all that is derived. Without its secret it may say what another one says: then it gives way to that."""
    derived = {
        "identity": identity_of(memory),
        "redactions": marked(told(memory)),
        **index_fields(memory, memory.space),
    }
    assign(memory, derived)
    try:
        with transaction.atomic():
            memory.save(update_fields=[*fields, *derived])
    except IntegrityError as error:
        if IDENTITY not in str(error):
            raise
        memory.superseded_by = Memory.objects.identical_to(memory).exclude(id=memory.id).get()
        memory.status = "superseded"
        memory.save(update_fields=[*fields, *derived, "status", "superseded_by"])
    drop_outdated(memory)
    embed_later([memory])
