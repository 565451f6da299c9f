"""Exact phrases in stored text, in any case: found for forgetting, and cut out."""

import re
from collections.abc import Callable, Iterator
from typing import Any, TypeVar

from django.db.models import QuerySet

from accounts.models import Tenant
from memoryhub.common.text import excerpt, nfc
from spaces.domain.kinds import SAMPLE, in_batches

T = TypeVar("T", bound=Tenant)

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
