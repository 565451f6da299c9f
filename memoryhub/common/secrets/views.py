"""The same text as others would read it: without what can't be seen, with its escapes undone, out of base64.

A view knows where each of its characters stands in the text, so that what is found in it can be cut there.
"""

import base64
import binascii
import html
import re
from bisect import bisect_right
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import accumulate

import re2

UNSEEN = re.compile(
    "[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180e\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0\U000e0000-\U000e007f]+"
)
PERCENT = re.compile(r"(?:%[0-9A-Fa-f]{2})+")
ENTITY = re.compile(r"&(?:#x?[0-9A-Fa-f]{1,6}|quot|amp|lt|gt|apos|colon|equals|nbsp);")
ESCAPE = re.compile(r"\\(?:u[0-9A-Fa-f]{4}|x[0-9A-Fa-f]{2}|[nrt\"'/\\])")
ESCAPES = {"n": "\n", "r": "\r", "t": "\t"}
BLOB = re2.compile(r"[A-Za-z0-9+/_-]{20,}={0,2}")
WRAPPED = re2.compile(r"(?:[A-Za-z0-9+/]{60,80}\r?\n[ \t]*)+[A-Za-z0-9+/]{1,80}={0,2}")
LEAST_DECODED = 12


@dataclass(frozen=True)
class View:
    """`starts[i]` is where a piece begins in the view, `origins[i]` where it stands in the text, and `sizes[i]`
    how long it is there; within a piece of the same length places go along."""

    text: str
    starts: list[int]
    origins: list[int]
    sizes: list[int]

    def origin(self, start: int, end: int) -> tuple[int, int]:
        return self._place(start, after=False), self._place(end - 1, after=True)

    def _place(self, index: int, *, after: bool) -> int:
        piece = bisect_right(self.starts, index) - 1
        begin, size = self.origins[piece], self.sizes[piece]
        length = (self.starts[piece + 1] if piece + 1 < len(self.starts) else len(self.text)) - self.starts[
            piece
        ]
        if length != size:
            return begin + size if after else begin
        return begin + (index - self.starts[piece]) + after


def views(text: str) -> Iterator[View]:
    """Each that differs from the text."""
    if not text.isascii() and UNSEEN.search(text):
        yield _replaced(text, UNSEEN, lambda match: "")
    if "%" in text and PERCENT.search(text):
        yield _replaced(text, PERCENT, _percent)
    if "\\" in text and ESCAPE.search(text):
        yield _replaced(text, ESCAPE, _escape)
    if "&" in text and ENTITY.search(text):
        yield _replaced(text, ENTITY, lambda match: html.unescape(match[0]))


def blobs(text: str) -> Iterator[tuple[int, int, str]]:
    """What base64 in the text says where it says something readable, with where it stands."""
    if len(text) < LEAST_DECODED:
        return
    wrapped = 0
    if "\n" in text:
        for match in WRAPPED.finditer(text):
            if (said := readable("".join(match[0].split()))) is not None:
                wrapped = match.end()
                yield match.start(), match.end(), said
    for match in BLOB.finditer(text):
        if match.end() > wrapped and (said := readable(match[0])) is not None:
            yield match.start(), match.end(), said


def _replaced(text: str, what: re.Pattern[str], by: Callable[[re.Match[str]], str]) -> View:
    pieces, origins, sizes, last = [], [], [], 0
    for match in what.finditer(text):
        for piece, origin, size in (
            (text[last : match.start()], last, match.start() - last),
            (by(match), match.start(), len(match[0])),
        ):
            if piece:
                pieces.append(piece)
                origins.append(origin)
                sizes.append(size)
        last = match.end()
    pieces.append(text[last:])
    origins.append(last)
    sizes.append(len(text) - last)
    starts = [0, *accumulate(len(piece) for piece in pieces[:-1])]
    return View("".join(pieces), starts, origins, sizes)


def _percent(match: re.Match[str]) -> str:
    return bytes.fromhex(match[0].replace("%", "")).decode("utf-8", "replace")


def _escape(match: re.Match[str]) -> str:
    code = match[0][1:]
    if code[0] in "ux" and len(code) > 1:
        return chr(int(code[1:], 16)).encode("utf-8", "replace").decode()
    return ESCAPES.get(code, code)


def readable(blob: str) -> str | None:
    """What base64 says, if that is text."""
    body = blob.rstrip("=").translate(str.maketrans("-_", "+/"))
    if len(body) % 4 == 1:
        body = body[:-1]
    try:
        raw = base64.b64decode(body + "=" * (-len(body) % 4))
        said = raw.decode()
    except (binascii.Error, UnicodeDecodeError):
        return None
    readable = sum(c.isprintable() or c in "\r\n\t" for c in said)
    return said if len(said) >= LEAST_DECODED and readable == len(said) else None
