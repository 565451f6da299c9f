"""Memories: the statements that a team keeps."""

from spaces.domain.memories.access import access_memory
from spaces.domain.memories.alike import Alike, find_alike
from spaces.domain.memories.changing import delete_memory, edit_memory, list_versions
from spaces.domain.memories.fields import Changes, Statement, told
from spaces.domain.memories.holding import count_held, hold_memory, list_held, release_memory
from spaces.domain.memories.recalling import (
    EVERYWHERE,
    Recalled,
    Told,
    Wanted,
    core_memories,
    find_memories,
    meaning_of,
    memory_facets,
    recall,
)
from spaces.domain.memories.remembering import Remembered, remember, remember_each
from spaces.domain.memories.sessions import (
    Cleared,
    SessionContext,
    clear_session,
    current_session,
    remember_in_session,
    session_context,
)
from spaces.domain.search.ranking import Candidate

__all__ = [
    "EVERYWHERE",
    "Alike",
    "Candidate",
    "Changes",
    "Cleared",
    "Recalled",
    "Remembered",
    "SessionContext",
    "Statement",
    "Told",
    "Wanted",
    "access_memory",
    "clear_session",
    "core_memories",
    "count_held",
    "current_session",
    "delete_memory",
    "edit_memory",
    "find_alike",
    "find_memories",
    "hold_memory",
    "list_held",
    "list_versions",
    "meaning_of",
    "memory_facets",
    "recall",
    "release_memory",
    "remember",
    "remember_each",
    "remember_in_session",
    "session_context",
    "told",
]
