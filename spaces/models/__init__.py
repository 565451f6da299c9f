from spaces.models.auto_context import AutoContext
from spaces.models.captures import Capture
from spaces.models.dreams import DreamChange, DreamRun
from spaces.models.embeddings import EmbeddingFailure, EmbeddingModel, MemoryChunk
from spaces.models.journal import JournalEntry, JournalVersion
from spaces.models.ledger import Reminder, Transaction
from spaces.models.memories import Memory, MemoryVersion
from spaces.models.plans import Plan, PlanVersion
from spaces.models.records import Record, RecordVersion
from spaces.models.spaces import Space, SpaceMember
from spaces.models.summaries import Summary, SummaryItem
from spaces.models.transfers import Transfer, TransferPart
from spaces.models.values import Value

__all__ = [
    "AutoContext",
    "Capture",
    "DreamChange",
    "DreamRun",
    "EmbeddingFailure",
    "EmbeddingModel",
    "JournalEntry",
    "JournalVersion",
    "Memory",
    "MemoryChunk",
    "MemoryVersion",
    "Plan",
    "PlanVersion",
    "Record",
    "RecordVersion",
    "Reminder",
    "Space",
    "SpaceMember",
    "Summary",
    "SummaryItem",
    "Transaction",
    "Transfer",
    "TransferPart",
    "Value",
]
