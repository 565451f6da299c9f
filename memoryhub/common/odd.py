"""Characters that hide or disguise: what a person can't see, or takes for another, is shown by its name."""

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass

from memoryhub.common.text import INVISIBLE, JOINER, SELECTORS

PLAIN_CONTROLS = frozenset("\n\t")
# Format characters that do show: Arabic, Syriac and Kaithi signs that stand before a number.
SEEN_FORMATS = frozenset(
    "\u0600\u0601\u0602\u0603\u0604\u0605\u06dd\u070f\u0890\u0891\u08e2\U000110bd\U000110cd"
)
HIDING = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})
EMOJI_SELECTORS = frozenset("\ufe0e\ufe0f")
KEYCAPS = frozenset("0123456789#*")
KEYCAP = "\u20e3"
EMOJI_MARKS = frozenset("\u203c\u2049")
CONTROL_NAMES = {"\r": "CARRIAGE RETURN", "\x1b": "ESCAPE", "\x7f": "DELETE", "\b": "BACKSPACE"}

BIDI = frozenset("\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")
TAG_CHARACTERS = range(0xE0000, 0xE0080)

# Scripts that are written together; any other mixture inside one word is a disguise, or looks like one.
EAST_ASIAN = frozenset({"CJK", "HIRAGANA", "KATAKANA", "HALFWIDTH", "HANGUL", "BOPOMOFO"})
TOGETHER = (EAST_ASIAN | {"LATIN"}, EAST_ASIAN | {"FULLWIDTH"})
NO_SCRIPT = frozenset("ªºµ")
WORD = re.compile(r"[^\W\d_]+", re.UNICODE)
CHUNK = re.compile(r"[^\s<>\"'`|,;()\[\]{}]+")


@dataclass(frozen=True)
class Piece:
    """A stretch of text as it is, or (with `odd`) one character that has to be shown by this name."""

    text: str
    odd: str = ""

    @property
    def code(self) -> str:
        return f"U+{ord(self.text):04X}" if self.odd else ""


def pieces(text: str) -> tuple[Piece, ...]:
    """The text, cut where a character hides. Joined together the pieces are the text again."""
    return tuple(_pieces(text))


def visible(text: str) -> str:
    """On one line of plain text: hiding characters as ⟦U+202E RIGHT-TO-LEFT OVERRIDE⟧."""
    return "".join(f"⟦{p.code} {p.odd}⟧" if p.odd else p.text for p in pieces(text))


def hiding_kinds(text: str) -> list[str]:
    """What kinds of hiding characters there are, in words, each once."""
    if text.isascii() and text.isprintable():
        return []
    return list(dict.fromkeys(_kind(p.text) for p in pieces(text) if p.odd))


def mixed_words(text: str) -> list[str]:
    """Words, and whole addresses, whose letters come from scripts that aren't written together."""
    if text.isascii():
        return []
    return list(dict.fromkeys(chunk for chunk in _chunks(text) if is_mixed(chunk)))


def scripts(word: str) -> frozenset[str]:
    return frozenset(script for c in word if (script := _script(c)))


def _pieces(text: str) -> Iterator[Piece]:
    start = 0
    for at, character in enumerate(text):
        if name := _odd_name(text, at, character):
            if start < at:
                yield Piece(text[start:at])
            yield Piece(character, name)
            start = at + 1
    if start < len(text):
        yield Piece(text[start:])


def _odd_name(text: str, at: int, character: str) -> str:
    """The name of a character that hides; "" for one that is seen."""
    if " " <= character <= "~" or not _hides(character) or _belongs_to_emoji(text, at, character):
        return ""
    return unicodedata.name(character, "") or CONTROL_NAMES.get(character) or _kind(character).upper()


def _hides(character: str) -> bool:
    if character in PLAIN_CONTROLS or character in SEEN_FORMATS:
        return False
    category = unicodedata.category(character)
    return category in HIDING or character in INVISIBLE - {"\xa0"} or SELECTORS.match(character) is not None


def _belongs_to_emoji(text: str, at: int, character: str) -> bool:
    """One selector after a symbol, or a joiner between two: what every keyboard writes."""
    before, after = text[at - 1 : at], text[at + 1 : at + 2]
    if character in EMOJI_SELECTORS:
        return _is_symbol(before) or (before in KEYCAPS and after == KEYCAP)
    return character == JOINER and (_is_symbol(before) or before in EMOJI_SELECTORS) and _is_symbol(after)


def _is_symbol(character: str) -> bool:
    if not character or character.isascii():
        return False
    return unicodedata.category(character) in ("So", "Sk", "Sm") or character in EMOJI_MARKS


def _kind(character: str) -> str:
    if character in BIDI:
        return "text direction control"
    if ord(character) in TAG_CHARACTERS:
        return "tag character"
    if SELECTORS.match(character):
        return "variation selector"
    return {
        "Cc": "control character",
        "Co": "private use character",
        "Cn": "unassigned character",
        "Cs": "half of a surrogate pair",
        "Zl": "line separator",
        "Zp": "paragraph separator",
    }.get(unicodedata.category(character), "invisible character")


def _chunks(text: str) -> Iterator[str]:
    for match in CHUNK.finditer(text):
        yield from [match[0]] if "@" in match[0] else WORD.findall(match[0])


def is_mixed(word: str) -> bool:
    found = scripts(word)
    return len(found) > 1 and not any(found <= group for group in TOGETHER)


def _script(character: str) -> str:
    """As its Unicode name begins; "" for what has none (digits, marks, punctuation)."""
    if not character.isalpha() or unicodedata.category(character) == "Lm" or character in NO_SCRIPT:
        return ""
    return unicodedata.name(character, "").partition(" ")[0]
