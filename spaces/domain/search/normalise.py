"""Text made comparable: one spelling for what people regard as the same characters."""

import re
import unicodedata

# Scripts that are written without spaces between words: Han, kana, hangul; Thai, Lao, Burmese, Khmer.
UNSPACED = (
    "\u1100-\u11ff\u2e80-\u2fdf\u3005-\u3007\u3021-\u3029\u3031-\u3035\u3041-\u3096\u3099\u309a\u309d-\u309f"
    "\u30a1-\u30fa\u30fc-\u30ff\u3105-\u312f\u3131-\u318e\u31a0-\u31bf\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff"
    "\ua960-\ua97f\uac00-\ud7ff\uf900-\ufaff\U00020000-\U0003ffff"
    "\u0e01-\u0e3a\u0e40-\u0e4e\u0e81-\u0ece\u1000-\u103f\u1050-\u109f\u1780-\u17d3\u17d7\u17dc\u17dd"
)
# Combining marks, which `\w` leaves out although words of most scripts have them.
MARKS = "".join(mark for mark in map(chr, range(0x300, 0x2100)) if unicodedata.category(mark)[0] == "M")

# Typographic apostrophes and hyphens become the ASCII ones; Arabic tatweel, joiners, direction marks, soft
# hyphens, variation selectors and skin tones carry no meaning for search and vanish.
_SAME = dict.fromkeys(map(ord, "\u2018\u2019\u02bc\u02b9\uff07"), "'") | dict.fromkeys(
    map(ord, "\u2010\u2011\u2212"), "-"
)
_IGNORED = (
    0x00AD, 0x034F, 0x061C, 0x0640, 0xFEFF,
    *range(0x200B, 0x2010), *range(0x202A, 0x202F), *range(0x2060, 0x2070),
    *range(0xFE00, 0xFE10), *range(0x1F3FB, 0x1F400), *range(0xE0000, 0xE0080), *range(0xE0100, 0xE01F0),
)  # fmt: skip
_CLEAN = _SAME | dict.fromkeys(_IGNORED, None)

# Marks that only vary a letter, in scripts where people leave them out when typing. Dakuten (U+3099) and the
# vowel signs of Indic scripts and Thai are not here: without them it is another word.
_DIACRITICS = re.compile(
    "[\u0300-\u036f\u0483-\u0487\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7"
    "\u0610-\u061a\u064b-\u065f\u0670\u06d6-\u06dc\u06df-\u06e8\u06ea-\u06ed\u08d3-\u08ff"
    "\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20ff\ufe20-\ufe2f]+"
)
# Letters that have no decomposition although people type them without the stroke or the ligature.
_LETTERS = str.maketrans(
    {
        "ı": "i", "ø": "o", "ł": "l", "đ": "d", "ð": "d", "ħ": "h", "ŧ": "t", "ŋ": "n", "ə": "e",
        "æ": "ae", "œ": "oe", "þ": "th", "ß": "ss", "ς": "σ",
        "ى": "ي", "ی": "ي", "ک": "ك", "ة": "ه",
    }
)  # fmt: skip


def clean(text: str) -> str:
    """NFKC without invisible characters. Case and accents stay, since splitting and stemming need them."""
    return text if text.isascii() else unicodedata.normalize("NFKC", text.translate(_CLEAN)).translate(_SAME)


def fold(word: str) -> str:
    """The form in which words are compared: case-folded, accents and strokes gone, digits in ASCII."""
    if word.isascii():
        return word.lower()
    bare = _DIACRITICS.sub("", unicodedata.normalize("NFD", word.casefold()))
    return unicodedata.normalize("NFC", "".join(map(_ascii_digit, bare)).translate(_LETTERS))


def _ascii_digit(character: str) -> str:
    return str(unicodedata.decimal(character)) if character.isdecimal() else character
