"""Unified diffs that `patch` applies. However large and alike two texts are, it takes moments."""

from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher

CONTEXT = 3
MOST_LINES = 4_000
"""Between where two texts begin and where they end to be equal. With more, all of these lines count as changed."""
NO_NEWLINE = "\n\\ No newline at end of file\n"

Block = tuple[str, int, int, int, int]
"""As of difflib: what is done with lines i1 to i2 of the one text and j1 to j2 of the other."""


def unified_diff(before: str, after: str) -> str:
    """Empty for texts that are equal."""
    old, new = lines_of(before), lines_of(after)
    return "".join(line for hunk in hunks(list(blocks(old, new))) for line in written(hunk, old, new))


def lines_of(text: str) -> list[str]:
    """Each with its line break. Only line feeds end a line."""
    lines = [f"{line}\n" for line in text.split("\n")]
    return [*lines[:-1], *([lines[-1][:-1]] if lines[-1] != "\n" else [])]


def blocks(old: Sequence[str], new: Sequence[str]) -> Iterator[Block]:
    start = common(old, new)
    end = common(old[start:][::-1], new[start:][::-1])
    i, j = len(old) - end, len(new) - end
    if start:
        yield "equal", 0, start, 0, start
    if max(i, j) - start > MOST_LINES:
        yield "replace", start, i, start, j
    else:
        for tag, i1, i2, j1, j2 in SequenceMatcher(None, old[start:i], new[start:j]).get_opcodes():
            yield tag, start + i1, start + i2, start + j1, start + j2
    if end:
        yield "equal", i, len(old), j, len(new)


def common(one: Sequence[str], other: Sequence[str]) -> int:
    """How many lines are the same from the start."""
    pairs = enumerate(zip(one, other, strict=False))
    return next((n for n, (a, b) in pairs if a != b), min(len(one), len(other)))


def hunks(found: Sequence[Block]) -> Iterator[list[Block]]:
    """Changes with the lines around them; those that are near each other together."""
    hunk: list[Block] = []
    for n, (tag, i1, i2, j1, j2) in enumerate(found):
        if tag != "equal":
            hunk.append((tag, i1, i2, j1, j2))
            continue
        first, last = n == 0, n == len(found) - 1
        if not first and not last and i2 - i1 <= 2 * CONTEXT:
            hunk.append((tag, i1, i2, j1, j2))
            continue
        if not first:
            yield [*hunk, (tag, i1, min(i2, i1 + CONTEXT), j1, min(j2, j1 + CONTEXT))]
        hunk = [] if last else [(tag, max(i1, i2 - CONTEXT), i2, max(j1, j2 - CONTEXT), j2)]
    if any(tag != "equal" for tag, *_ in hunk):
        yield hunk


def written(hunk: Sequence[Block], old: Sequence[str], new: Sequence[str]) -> Iterator[str]:
    old_lines, new_lines = span(hunk[0][1], hunk[-1][2]), span(hunk[0][3], hunk[-1][4])
    yield f"@@ -{old_lines} +{new_lines} @@\n"
    for tag, i1, i2, j1, j2 in hunk:
        if tag == "equal":
            yield from (marked(" ", line) for line in old[i1:i2])
        else:
            yield from (marked("-", line) for line in old[i1:i2])
            yield from (marked("+", line) for line in new[j1:j2])


def span(start: int, end: int) -> str:
    """Lines are counted from 1; of none, the one before is named."""
    count = end - start
    return f"{start + 1}" if count == 1 else f"{start + 1 if count else start},{count}"


def marked(mark: str, line: str) -> str:
    return mark + line if line.endswith("\n") else mark + line + NO_NEWLINE
