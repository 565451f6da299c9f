"""Characters a reader cannot see, or that change how the characters around them read."""

import re
import unicodedata
from collections.abc import Iterator
from typing import NamedTuple

_ODD = re.compile(
    "["
    "\x00-\x08\x0b-\x1f\x7f-\x9f"  # controls other than tab and newline
    "\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f"
    "\u200b-\u200f\u2028-\u202e\u2060-\u206f\u2800\u3164"
    "\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb\ufffe\uffff"
    "\ue000-\uf8ff"  # private use: every reader may see something else
    "\U0001d173-\U0001d17a\U000e0000-\U000e0fff\U000f0000-\U0010ffff"
    "]"
)
_PICTURE = frozenset({"So", "Sk"})
_JOINER, _EMOJI_STYLE = "\u200d", "\ufe0f"


class Piece(NamedTuple):
    """A stretch of text; `odd` holds its readable name where it is one odd character."""

    text: str
    odd: str = ""


def pieces(text: str) -> Iterator[Piece]:
    """Splits text into what reads as it looks and what does not."""
    start = 0
    for match in _ODD.finditer(text):
        if _belongs_to_emoji(text, match.start()):
            continue
        if match.start() > start:
            yield Piece(text[start : match.start()])
        yield Piece(match.group(), _name(match.group()))
        start = match.end()
    if start < len(text):
        yield Piece(text[start:])


def count_odd(text: str) -> int:
    return sum(1 for piece in pieces(text) if piece.odd)


def _belongs_to_emoji(text: str, at: int) -> bool:
    if text[at] not in (_JOINER, _EMOJI_STYLE) or at == 0:
        return False
    before = text[max(at - 2, 0) : at].rstrip(_EMOJI_STYLE)[-1:]
    if text[at] == _EMOJI_STYLE:
        return bool(before) and (before in "#*0123456789" or not before.isalnum())
    return _is_picture(before) and _is_picture(text[at + 1 : at + 2])


def _is_picture(character: str) -> bool:
    return bool(character) and (
        unicodedata.category(character) in _PICTURE or character in "\u2640\u2642\u2695\u2764"
    )


def _name(character: str) -> str:
    return unicodedata.name(character, "CONTROL" if ord(character) < 0xA0 else "UNNAMED CHARACTER")
