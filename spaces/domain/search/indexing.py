"""What a memory is found by, made as it is written."""

from collections import Counter
from collections.abc import Iterator
from datetime import UTC, tzinfo
from itertools import chain
from typing import Any

from memoryhub.common.times import zone
from spaces.domain.search.bm25 import memory_weights
from spaces.domain.search.languages import DEFAULT_LANGUAGES, Languages
from spaces.domain.search.lexemes import capped, space_lexeme, tenant_lexeme, to_tsvector_literal
from spaces.domain.search.passage import TEMPLATE_VERSION, passage
from spaces.domain.search.tokens import TOKENIZER_VERSION, document_words
from spaces.models import Memory, Space

SEARCH_VERSION = TOKENIZER_VERSION * 100 + TEMPLATE_VERSION


def index_fields(
    memory: Memory, space: Space | None, *, languages: Languages = DEFAULT_LANGUAGES
) -> dict[str, Any]:
    """The derived columns that belong in the statement that writes the memory, so that it is found at once.

    `space` is the memory's own (None: the account as a whole).
    """
    words = list(chain.from_iterable(document_words(part, languages) for part in _searched(memory, space)))
    counts = Counter(lexeme for word in words for lexeme in word.lexemes)
    kept = {lexeme: counts[lexeme] for lexeme in capped(counts)}
    places = [tenant_lexeme(memory.account_id), space_lexeme(memory.space_id)]
    return {
        "search_vector": to_tsvector_literal(kept, places),
        "search_weights": memory_weights(kept, len(words)),
        "search_version": SEARCH_VERSION,
    }


def _searched(memory: Memory, space: Space | None) -> Iterator[str]:
    """The passage, and what else a person would expect to find the memory by."""
    time_zone: tzinfo = zone(space.time_zone) if space else UTC
    yield passage(
        memory.text,
        said_at=memory.occurred_at,
        zone=time_zone,
        actor=memory.agent or memory.decided_by,
        space=space.name if space else "",
        tags=memory.tags,
        subject=memory.subject,
    )
    yield from memory.topics
    yield memory.path
    yield memory.source_ref
