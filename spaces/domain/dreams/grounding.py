"""Nothing from nowhere: is what a model wrote in the memories that it wrote it from?

Names can't be told for sure from other words, so whatever looks like one has to be in a source: words with a capital,
with a digit or a mark inside. Of scripts without capitals, katakana runs and new pairs of Han characters count.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise

from spaces.domain.dreams.lexicon import DAYS, NEGATIONS, NUMBERS, OPENERS, UNSPACED_NEGATIONS
from spaces.domain.search.languages import DEFAULT_LANGUAGES, is_stop_word
from spaces.domain.search.normalise import clean, fold
from spaces.domain.search.tokens import document_words

SHARED = 0.5

_NUMBER = re.compile(r"\d+(?:[.,:/-]\d+)*")
_GROUPED = re.compile(r"\d{1,3}(?:,\d{3})+(?:\.\d+)?")
_WORD = re.compile(r"[^\s\"“”„«»()\[\]{}<>,;!?。、！？…|*`]+")
_PART = re.compile(r"[^\W_]+")
_EDGES = ".,:;'’-–—_/\\#&+~%=^"
_INSIDE = re.compile(r"\w[@/\\_.:#~=]+\w|[a-z][A-Z]")
_SENTENCE_ENDS = re.compile(r"[.!?:;\n。！？•–—-]\s*$|^\s*$")
_KATAKANA = re.compile("[\u30a1-\u30fa\u30fc]{3,}")
_HAN = re.compile("[\u3400-\u4dbf\u4e00-\u9fff]{2,}")
_HAN_NUMBER = re.compile("[二三四五六七八九十百千万億]{1,}(?=[時日月年人円分個回倍％%])")


@dataclass(frozen=True)
class Token:
    """A word as it is written. `opens` a sentence; `follows` the word before with nothing but space between."""

    text: str
    opens: bool
    follows: bool

    @cached_property
    def folded(self) -> str:
        return fold(re.sub(r"['’]s$", "", self.text))

    @property
    def has_capital(self) -> bool:
        return any(c.isupper() for c in self.text)

    @property
    def looks_named(self) -> bool:
        return self.has_capital or any(c.isdigit() for c in self.text) or self.is_identifier

    @property
    def is_identifier(self) -> bool:
        return bool(_INSIDE.search(self.text)) and not _NUMBER.fullmatch(self.text)


@dataclass(frozen=True)
class Said:
    """Some texts, read for what they say. `texts` stay apart: what follows what counts within one."""

    texts: tuple[str, ...]
    tokens: tuple[Token, ...] = field(init=False)

    def __post_init__(self) -> None:
        cleaned = tuple(clean(text) for text in self.texts)
        object.__setattr__(self, "texts", cleaned)
        object.__setattr__(self, "tokens", tuple(token for text in cleaned for token in _tokens(text)))

    @cached_property
    def content(self) -> frozenset[str]:
        """The stems of words that mean something."""
        words = (word for text in self.texts for word in document_words(text) if not word.stop)
        return frozenset(leaf for word in words for leaf in word.leaves)

    @cached_property
    def plain(self) -> frozenset[str]:
        """The stems of words that are written small: no names."""
        small = " ".join(token.text for token in self.tokens if not token.has_capital)
        return frozenset(leaf for word in document_words(small) for leaf in word.leaves)

    @cached_property
    def numbers(self) -> frozenset[str]:
        written = {_number(n) for text in self.texts for n in _NUMBER.findall(_digits(text))}
        spelt = {NUMBERS[part] for part in self.parts if part in NUMBERS}
        han = {n for text in self.texts for n in _HAN_NUMBER.findall(text)}
        return frozenset(written | spelt | han)

    @cached_property
    def days(self) -> frozenset[str]:
        return frozenset(self.parts & DAYS) | {
            day for day in DAYS if not day.isascii() and any(day in fold(text) for text in self.texts)
        }

    @cached_property
    def parts(self) -> frozenset[str]:
        return frozenset(
            fold(part) for token in self.tokens for part in (*_PART.findall(token.text), token.folded)
        )

    @cached_property
    def written(self) -> frozenset[str]:
        return frozenset(token.text for token in self.tokens)

    @cached_property
    def together(self) -> frozenset[tuple[str, str]]:
        return frozenset((a.folded, b.folded) for a, b in pairwise(self.tokens) if b.follows)

    @cached_property
    def whole(self) -> str:
        return "\n".join(fold(text) for text in self.texts)

    @cached_property
    def denies(self) -> bool:
        words = {token.folded for token in self.tokens} | self.parts
        return bool(words & NEGATIONS) or any(no in text for text in self.texts for no in UNSPACED_NEGATIONS)


def ungrounded(text: str, sources: Iterable[str], *, labels: Iterable[str] = ()) -> str | None:
    """Why this text doesn't come from those sources; None if it does. `labels` (a subject, tags) are held to the
    numbers, days and names only. The answer names a kind, never a word of anybody's."""
    told = list(sources)
    new, old = Said((text,)), Said(tuple(told))
    if not new.content or len(_shared(new, old)) < SHARED * len(new.content):
        return "Less than half of its words are in its sources."
    if new.denies != old.denies and (new.denies or all(Said((one,)).denies for one in told)):
        return "It denies what its sources say, or says what they deny."
    return foreign(Said((text, *labels)), old)


def leaves_out(text: str, source: str) -> bool:
    """Whether it has less than half of the source's words."""
    new, old = Said((text,)), Said((source,))
    return len(_shared(new, old)) < SHARED * len(old.content)


def foreign(new: Said, old: Said) -> str | None:
    """The kind of what is in the new texts and in none of the old ones: a number, a date or a name."""
    if new.numbers - old.numbers:
        return "It has a number that its sources don't have."
    if new.days - old.days:
        return "It has a date that its sources don't have."
    if (
        any(_is_foreign(token, old) for token in new.tokens)
        or _is_joined_anew(new, old)
        or _odd_runs(new, old)
    ):
        return "It has a name that its sources don't have."
    return None


def _shared(new: Said, old: Said) -> frozenset[str]:
    return new.content & old.content


def _is_foreign(token: Token, old: Said) -> bool:
    """Whether it looks like a name that no source has."""
    if not token.looks_named or token.folded in NUMBERS or _NUMBER.fullmatch(_digits(token.text)):
        return False
    if token.is_identifier:
        return token.folded not in old.whole
    if is_stop_word(token.folded, DEFAULT_LANGUAGES):
        # "IT" and "US" are names; "The" and "I" are not.
        return token.text.isupper() and len(token.text) > 1 and token.text not in old.written
    if all(fold(part) in old.parts for part in _PART.findall(token.text)):
        return False
    return not (token.opens and _is_ordinary(token, old))


def _is_ordinary(token: Token, old: Said) -> bool:
    """A word that has its capital from beginning a sentence."""
    if not token.text[0].isupper() or token.text[1:] != token.text[1:].lower():
        return False
    leaves = {leaf for word in document_words(token.text) for leaf in word.leaves}
    return token.folded in OPENERS or bool(leaves & old.plain)


def _is_joined_anew(new: Said, old: Said) -> bool:
    """Two names side by side that stand side by side nowhere: the first one's of one person, the second of another."""
    return any(
        (first.folded, second.folded) not in old.together
        for first, second in pairwise(new.tokens)
        if second.follows and _is_name(first, old) and _is_name(second, old)
    )


def _is_name(token: Token, old: Said) -> bool:
    ordinary = is_stop_word(token.folded, DEFAULT_LANGUAGES) or (token.opens and _is_ordinary(token, old))
    return token.text[0].isupper() and not ordinary and token.folded not in DAYS


def _odd_runs(new: Said, old: Said) -> bool:
    kana = {run for text in new.texts for run in _KATAKANA.findall(text)}
    characters = set("".join(old.texts))
    pairs = {run[i : i + 2] for text in new.texts for run in _HAN.findall(text) for i in range(len(run) - 1)}
    return any(fold(run) not in old.whole for run in kana) or any(not set(p) & characters for p in pairs)


def _tokens(text: str) -> Iterator[Token]:
    end = 0
    for match in _WORD.finditer(text):
        trimmed = match[0].strip(_EDGES)
        if not trimmed:
            continue
        start = match.start() + match[0].index(trimmed)
        between = text[end:start]
        yield Token(
            trimmed, opens=bool(_SENTENCE_ENDS.search(text[:start])), follows=end > 0 and between.isspace()
        )
        end = start + len(trimmed)


def _digits(text: str) -> str:
    return text if text.isascii() else "".join(fold(c) if c.isdecimal() else c for c in text)


def _number(text: str) -> str:
    """Grouping and leading zeros say nothing: 1,000 is 1000."""
    return text.replace(",", "") if _GROUPED.fullmatch(text) else text
