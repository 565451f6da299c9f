from collections.abc import Iterator
from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from spaces.domain.unified import MOST_LINES, lines_of, unified_diff

TEXT = st.lists(st.sampled_from(["a", "b", "c", "", "\r", "\x0b", "\u2028", " x"]), max_size=40).map(
    "\n".join
)
BARE = "\\ No newline at end of file\n"


def patched(before: str, diff: str) -> str:
    """What the diff makes of a text, which has to be the one that it is for."""
    old, new, place = lines_of(before), list[str](), 0
    for line in diff_lines(diff):
        if line.startswith("@@"):
            start, _, count = line.split()[1][1:].partition(",")
            until = int(start) - (count != "0")
            new += old[place:until]
            place = until
            continue
        if line[0] in " -":
            assert old[place] == line[1:]
            place += 1
        if line[0] in " +":
            new.append(line[1:])
    return "".join([*new, *old[place:]])


def diff_lines(diff: str) -> Iterator[str]:
    lines = [*lines_of(diff), ""]
    for line, following in pairwise(lines):
        if line != BARE:
            yield line[:-1] if following == BARE else line


def test_a_change_stands_between_the_lines_around_it() -> None:
    before = "".join(f"{n}\n" for n in range(1, 10))
    assert unified_diff(before, before.replace("5\n", "five\n")) == (
        "@@ -2,7 +2,7 @@\n 2\n 3\n 4\n-5\n+five\n 6\n 7\n 8\n"
    )


def test_changes_far_apart_are_told_apart_and_near_ones_together() -> None:
    before = "".join(f"{n}\n" for n in range(30))
    far = unified_diff(before, before.replace("5\n", "x\n", 1).replace("28\n", "y\n"))
    near = unified_diff(before, before.replace("\n8\n", "\nx\n").replace("\n12\n", "\ny\n"))
    assert [d.count("@@ -") for d in (far, near)] == [2, 1]


def test_equal_texts_have_no_diff() -> None:
    assert unified_diff("a\nb", "a\nb") == ""


def test_a_missing_line_break_at_the_end_is_told() -> None:
    assert unified_diff("a", "a\n") == f"@@ -1 +1 @@\n-a\n{BARE}+a\n"


@given(TEXT, TEXT)
def test_the_diff_makes_the_one_text_of_the_other(before: str, after: str) -> None:
    diff = unified_diff(before, after)
    assert (diff == "") == (before == after)
    assert patched(before, diff) == after


def test_what_is_large_and_alike_is_told_as_replaced_whole() -> None:
    before = "".join(f"{n % 120}\n" for n in range(MOST_LINES * 5))
    after = "".join(f"{n % 121}\n" for n in range(MOST_LINES * 5))
    diff = unified_diff(f"same\n{before}end", f"same\n{after}end")
    assert diff.count("@@ -") == 1
    assert patched(f"same\n{before}end", diff) == f"same\n{after}end"
