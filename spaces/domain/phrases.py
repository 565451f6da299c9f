"""Exact phrases in stored text, in any case: found for forgetting, and cut out."""

import re
from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeVar

from django.db.models import QuerySet

from accounts.models import Tenant
from memoryhub.common.text import excerpt, nfc
from spaces.domain.kinds import SAMPLE, in_batches
from spaces.domain.search.names import Word
from spaces.domain.search.tokens import holds_all_words

T = TypeVar("T", bound=Tenant)

BORDER = re.compile(r"((?<=[.!?…])\s+|(?<=[。！？])\s*|\n\s*)")
"""Between sentences."""
CLOSING = ".!?…。！？ "
REDACTED = "[redacted]"
BLACKED_OUT = "█"


def phrase_pattern(phrase: str) -> re.Pattern[str]:
    return re.compile(re.escape(nfc(phrase.strip())), re.IGNORECASE)


def texts_in(value: Any) -> Iterator[str]:
    """Every text in a JSON value: keys and numbers are texts too."""
    if isinstance(value, dict):
        for name, item in value.items():
            yield name
            yield from texts_in(item)
    elif isinstance(value, list | tuple):
        for item in value:
            yield from texts_in(item)
    elif value is not None and not isinstance(value, bool):
        yield str(value)


def holders(rows: QuerySet[T], phrase: str, told: Callable[[T], Any]) -> Iterator[tuple[T, str]]:
    """The rows that hold the phrase in what they tell, each with the start of the text that does."""
    if not phrase.strip():
        return
    pattern = phrase_pattern(phrase)
    for row in in_batches(rows):
        found = next((text for text in texts_in(told(row)) if pattern.search(nfc(text))), None)
        if found is not None:
            yield row, excerpt(found, SAMPLE)


def cut_out(phrase: str, text: str, limit: int) -> str:
    """The text without the phrase; as long as the phrase at most where it would exceed the limit."""
    pattern, whole = phrase_pattern(phrase), nfc(text)
    if not pattern.search(whole):
        return text
    marked = pattern.sub(REDACTED, whole)
    return marked if len(marked) <= limit else pattern.sub(BLACKED_OUT, whole)


def cut_statement(statement: str, text: str) -> str:
    """The text without the statement where it stands word for word, but for case and white space."""
    words = nfc(statement).strip().rstrip(CLOSING).split()
    said = r"\s+".join(map(re.escape, words))
    pattern = re.compile(f"(?<![A-Za-z0-9]){said}(?![A-Za-z0-9])", re.IGNORECASE)
    return pattern.sub(REDACTED, nfc(text)) if words and pattern.search(nfc(text)) else text


def cut_sentences(words: Sequence[Word], text: str) -> str:
    """The text without the sentences that hold all the words. Where only several do together, those that hold any."""
    if not words or not holds_all_words(words, text):
        return text
    left = _without(text, lambda sentence: holds_all_words(words, sentence))
    if not holds_all_words(words, left):
        return left
    telling = [word for word in words if not word.stop] or words
    return _without(left, lambda sentence: any(holds_all_words([word], sentence) for word in telling))


def _without(text: str, holds: Callable[[str], bool]) -> str:
    return "".join(REDACTED if part.strip() and holds(part) else part for part in BORDER.split(text))
