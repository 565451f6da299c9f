"""Memories by meaning: which model, what waits for its vectors, and the vector of a question."""

from spaces.domain.embeddings.changing import coming_progress
from spaces.domain.embeddings.pending import embed_later, embedding_state, embedding_states
from spaces.domain.embeddings.queries import QueryMeaning, embed_query
from spaces.domain.embeddings.status import Status, embedding_status

__all__ = [
    "QueryMeaning",
    "Status",
    "coming_progress",
    "embed_later",
    "embed_query",
    "embedding_state",
    "embedding_states",
    "embedding_status",
]
