"""Memories: the statements that a team keeps."""

from spaces.domain.memories.access import access_memory
from spaces.domain.memories.changing import delete_memory, edit_memory, list_versions
from spaces.domain.memories.fields import Changes, Statement, told
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
from spaces.domain.search.ranking import Candidate

__all__ = [
    "EVERYWHERE",
    "Candidate",
    "Changes",
    "Recalled",
    "Remembered",
    "Statement",
    "Told",
    "Wanted",
    "access_memory",
    "core_memories",
    "delete_memory",
    "edit_memory",
    "find_memories",
    "list_versions",
    "meaning_of",
    "memory_facets",
    "recall",
    "remember",
    "remember_each",
    "told",
]
