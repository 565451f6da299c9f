from spaces.models.journal import JournalEntry, JournalVersion
from spaces.models.memories import Memory, MemoryVersion
from spaces.models.records import Record, RecordVersion
from spaces.models.spaces import Space, SpaceMember
from spaces.models.values import Value

__all__ = [
    "JournalEntry",
    "JournalVersion",
    "Memory",
    "MemoryVersion",
    "Record",
    "RecordVersion",
    "Space",
    "SpaceMember",
    "Value",
]
