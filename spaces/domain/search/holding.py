"""Narrowing down where all of some words may be, by the index. For forgetting: none may be missed."""

from collections.abc import Iterable

from django.db.models import F, Func, IntegerField, Q

from spaces.domain.search.indexing import SEARCH_VERSION
from spaces.domain.search.lexemes import to_tsquery_literal
from spaces.domain.search.names import Word
from spaces.domain.search.words import having
from spaces.models.memories import MemoryQuerySet

# With fewer lexemes than this the index has all of a memory's: `capped` cuts beyond 12,000, or 512 KiB, which
# at 264 bytes a lexeme is beyond 1,985.
SURELY_WHOLE = 1_500


def may_hold(memories: MemoryQuerySet, words: Iterable[Word]) -> MemoryQuerySet:
    """Those of the memories whose index has something of every word, and those whose index doesn't tell."""
    lexemes = Func(F("search_vector"), function="length", output_field=IntegerField())
    return memories.alias(lexemes=lexemes).filter(
        something_of_every(words) | _beside_the_index() | Q(lexemes__gte=SURELY_WHOLE)
    )


def something_of_every(words: Iterable[Word]) -> Q:
    """Of what is searched by. The rest of a name, such as its order, the index doesn't tell."""
    something = Q()
    for word in words:
        something &= Q(having(to_tsquery_literal([*word.forms, word.leaves[0]])))
    return something


def _beside_the_index() -> Q:
    """Links, metadata and who decided are not searched; an index of another version is not to be trusted."""
    plain = Q(links=[], metadata={}, decided_by="", search_version=SEARCH_VERSION)
    return ~plain
