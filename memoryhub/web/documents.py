"""Documents in Markdown, laid out for reading: headings, lists, code and quotes. Nothing is hidden or fetched.

What stands inside a line stays as it was written: a link shows where it goes because its address is text.
"""

import re
from collections.abc import Iterator
from typing import Literal, NamedTuple

_HEADING = re.compile(r" {0,3}(#{1,6})\s+(.*?)\s*#*\s*")
_ITEM = re.compile(r"(\s*)([-*+]|\d{1,9}[.)])\s+(\S.*?)\s*")
_TASK = re.compile(r"\[([ xX])\]\s+(.*)")
_QUOTE = re.compile(r" {0,3}>\s?(.*)")
_FENCE = re.compile(r" {0,3}(`{3,}|~{3,}).*")
_RULE = re.compile(r" {0,3}(?:(?:-\s*){3,}|(?:\*\s*){3,}|(?:_\s*){3,})")
DEEPEST = 4
POINT, OPEN, DONE = "•", "☐", "☑"

Kind = Literal["heading", "item", "quote", "code", "rule", "text"]


class Block(NamedTuple):
    """`level` is a heading's 1 to 6, or how far an item is set in; `mark` is what stands before an item."""

    kind: Kind
    text: str
    level: int = 0
    mark: str = ""


def blocks(text: str) -> Iterator[Block]:
    """In order. Lines of one paragraph, quote or piece of code are together."""
    kept: list[str] = []
    kind: Kind = "text"
    fence = ""

    def flushed() -> Iterator[Block]:
        if kept:
            yield Block(kind, "\n".join(kept))
            kept.clear()

    for line in text.split("\n"):
        opening = _FENCE.fullmatch(line)
        if fence:
            if opening and opening[1].startswith(fence) and line.strip() == opening[1]:
                yield from flushed()
                fence = ""
            else:
                kept.append(line)
            continue
        if opening:
            yield from flushed()
            kind, fence = "code", opening[1]
            continue
        single = _single(line)
        quote = _QUOTE.fullmatch(line)
        here: Kind = "quote" if quote else "text"
        if single or here != kind or not line.strip():
            yield from flushed()
        kind = here
        if single:
            yield single
        elif line.strip():
            kept.append(quote[1] if quote else line)
    yield from flushed()


def _single(line: str) -> Block | None:
    """What is a block by itself."""
    if heading := _HEADING.fullmatch(line):
        return Block("heading", heading[2], len(heading[1]))
    if _RULE.fullmatch(line):
        return Block("rule", line)
    if item := _ITEM.fullmatch(line):
        return _item(item[3], min(len(item[1].expandtabs(4)) // 2, DEEPEST), item[2])
    return None


def _item(text: str, level: int, mark: str) -> Block:
    """With its number, a box where it is a task, or a point."""
    if mark[0].isdigit():
        return Block("item", text, level, mark)
    if task := _TASK.fullmatch(text):
        return Block("item", task[2], level, OPEN if task[1] == " " else DONE)
    return Block("item", text, level, POINT)
