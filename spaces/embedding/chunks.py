"""Long texts in pieces that a model reads whole."""

import re
from collections.abc import Iterable, Iterator

# Raise it whenever texts are cut differently: vectors are then made anew.
CHUNKS_VERSION = 1
LONGEST = 900
"""Of what a piece holds, in Latin characters. One of Chinese, Japanese or Korean makes as many tokens as two."""
LONGEST_HEADER = 300
LONGEST_OVERLAP = LONGEST // 3

_WIDE = "\u1100-\u11ff\u2e80-\u9fff\uac00-\ud7af\uf900-\ufaff\uff00-\uffef\U00020000-\U0003ffff"
_NARROW_RUN = re.compile(rf"[^{_WIDE}]+")
# A sentence ends at a mark and white space, at a mark that needs none, or with the line. Nothing is tried twice, so
# no text takes long.
_BORDER = re.compile(
    r"(?<![.!?…؟۔।])[.!?…؟۔।]++[\"'”’»)\]]*+\s++|(?<![。！？])[。！？]++[」』”）]*+\s*+|(?<!\n)\n\s*+"
)
_BREAK = re.compile(r"[\s,;:、，；：]")


def chunks(header: str, text: str) -> list[str]:
    """A short text in one piece; a long one in several, each beginning with the last sentence of the one before."""
    header = header[:LONGEST_HEADER]
    if size(text) <= LONGEST:
        return [header + text]
    return [header + piece for piece in map(str.strip, _pieces(_units(text))) if piece]


def size(text: str) -> int:
    """In Latin characters."""
    return 2 * len(text) - sum(len(run) for run in _NARROW_RUN.findall(text))


def _pieces(units: Iterable[str]) -> Iterator[str]:
    held: list[str] = []
    room = LONGEST
    for unit in units:
        needed = size(unit)
        if held and needed > room:
            yield "".join(held)
            held = _overlap(held[-1], needed)
            room = LONGEST - sum(map(size, held))
        held.append(unit)
        room -= needed
    yield "".join(held)


def _overlap(last: str, needed: int) -> list[str]:
    return [last] if size(last) <= min(LONGEST_OVERLAP, LONGEST - needed) else []


def _units(text: str) -> Iterator[str]:
    start = 0
    for border in _BORDER.finditer(text):
        yield from _parts(text[start : border.end()])
        start = border.end()
    yield from _parts(text[start:])


def _parts(sentence: str) -> Iterator[str]:
    """A sentence that is too long by itself, at white space and commas; where there are none, anywhere."""
    while size(sentence) > LONGEST:
        end = _reach(sentence)
        breaks = [m.end() for m in _BREAK.finditer(sentence, end // 2, end)]
        cut = breaks[-1] if breaks else end
        yield sentence[:cut]
        sentence = sentence[cut:]
    if sentence:
        yield sentence


def _reach(text: str) -> int:
    """How many characters from the start fit."""
    end = min(len(text), LONGEST)
    while size(text[:end]) > LONGEST:
        end -= max(1, (size(text[:end]) - LONGEST) // 2)
    return end
