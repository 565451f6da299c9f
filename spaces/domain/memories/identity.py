"""When two memories are the same: one statement about one subject in one place."""

import hashlib

from memoryhub.common.canonical import canonical_json
from memoryhub.common.text import fold_statement
from spaces.models import Memory


def identity_of(memory: Memory) -> bytes:
    """SHA-256 of all that identical memories share, besides the account."""
    shared = [
        memory.space_id.hex if memory.space_id else "",
        memory.kind,
        memory.subject,
        memory.path.lower(),
        memory.session if memory.session_scoped else "",
        memory.metadata.get("user_id"),
        fold_statement(memory.text),
    ]
    return hashlib.sha256(canonical_json(shared)).digest()
