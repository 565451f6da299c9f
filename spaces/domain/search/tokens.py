"""The one tokenizer, for what is stored and for what is asked.

A text becomes words, a word becomes lexemes. An everyday word has one, its stem. A name that people write
and type in several ways (`BENCH-100821`, `src/billing/invoice_utils.py`, `getUserById`, `v1.2.10`) is found
by its leaves, the smallest parts, by the whole, and by what lies between. Scripts without spaces are read as
pairs of characters and as single ones.
"""

import re
from collections.abc import Iterable, Iterator
from functools import lru_cache

from spaces.domain.search.languages import DEFAULT_LANGUAGES, Languages
from spaces.domain.search.names import Word, word_of
from spaces.domain.search.normalise import MARKS, UNSPACED, clean

# Raise it whenever another lexeme may come out: rows of an older version are then rebuilt.
TOKENIZER_VERSION = 1

_LETTERS = rf"[^\W{UNSPACED}]+(?:(?![{UNSPACED}])[{MARKS}]+[^\W{UNSPACED}]*)*"
# `ann@example.com` and `14:00` are one word; `key=value`, `file:path` and `main.py:42` are two.
_JOINT = r"(?:[.\-/\\@#&+~'%]{1,3}|(?<=\d)[:,](?=\d)|::|:\\)"
_PIECE = re.compile(
    rf"(?P<unspaced>[{UNSPACED}]+)"
    rf"|(?:(?<![^\s(\[{{<\"'`,/])\.(?=[^\W\d_]))?{_LETTERS}(?:{_JOINT}{_LETTERS})*(?:\+\+?|\#)?"
    r"|[\U0001f1e6-\U0001f1ff]{2}|[\u2600-\u27bf\u2b00-\u2bff\U0001f000-\U0001faff]"  # flags, emoji
)
_HAN = re.compile("[\u2e80-\u2fdf\u3005-\u3007\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]")


def document_words(text: str, languages: Languages = DEFAULT_LANGUAGES) -> Iterator[Word]:
    """Every word of a text to be stored, in order, as often as it occurs."""
    for piece in _PIECE.finditer(clean(text)):
        if run := piece["unspaced"]:
            yield from (_pair(run[i : i + 2]) for i in range(len(run)))
        elif (word := word_of(piece[0], languages)).leaves:
            yield word


def query_words(text: str, languages: Languages = DEFAULT_LANGUAGES) -> list[Word]:
    """The different words of a question: stop words only if it has no others, [] if it has no word at all."""
    words = every_word(text, languages)
    return [word for word in words if not word.stop] or words


def every_word(text: str, languages: Languages = DEFAULT_LANGUAGES) -> list[Word]:
    """The different words of a question, stop words too: for where each one narrows what is meant."""
    return list(dict.fromkeys(_asked(text, languages)))


def holds_all_words(words: Iterable[Word], *texts: str, languages: Languages = DEFAULT_LANGUAGES) -> bool:
    """Whether the texts together hold every one of the words."""
    held = {lexeme for text in texts for word in document_words(text, languages) for lexeme in word.lexemes}
    return all(word.held_by(held) for word in words)


def _asked(text: str, languages: Languages) -> Iterator[Word]:
    for piece in _PIECE.finditer(clean(text)):
        if run := piece["unspaced"]:
            # The last character is no word of its own: where the stored run goes on, it has no such word.
            yield from (_asked_pair(run[i : i + 2]) for i in range(max(1, len(run) - 1)))
        elif (word := word_of(piece[0], languages)).leaves:
            yield word


@lru_cache(1 << 14)
def _pair(pair: str) -> Word:
    """A pair with its first character, or the single last character of a run."""
    pair = pair.casefold()
    return Word(pair, (pair,), hints=(pair[0],) if len(pair) > 1 else ())


@lru_cache(1 << 12)
def _asked_pair(pair: str) -> Word:
    """A single Han character means something; a syllable, kana or letter by itself would only be noise."""
    pair = pair.casefold()
    return Word(pair, (pair,), hints=tuple(_HAN.findall(pair)) if len(pair) > 1 else ())
