import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memoryhub.web.diffs import Change, word_changes

text = st.text(alphabet="ab \n.,é", max_size=80)


@given(text, text)
def test_a_difference_holds_both_texts_whole(before, after):
    changes = word_changes(before, after)
    assert "".join(c.text for c in changes if c.kind != "new") == before
    assert "".join(c.text for c in changes if c.kind != "gone") == after


def test_one_changed_word_is_one_change():
    assert word_changes("We ship on Friday.", "We ship on Monday.") == [
        Change("same", "We ship on "),
        Change("gone", "Friday"),
        Change("new", "Monday"),
        Change("same", "."),
    ]


def test_words_changed_side_by_side_are_one_change():
    assert word_changes("send 82 euros today", "send 900 dollars today") == [
        Change("same", "send "),
        Change("gone", "82 euros"),
        Change("new", "900 dollars"),
        Change("same", " today"),
    ]


def test_equal_texts_have_no_changes():
    assert word_changes("the same", "the same") == [Change("same", "the same")]


def test_a_change_in_a_long_text_is_found_where_it_is():
    before = "The plan says that we ship on Friday. " * 60
    after = before[:1000] + before[1000:].replace("Friday", "Monday", 1)
    assert [c for c in word_changes(before, after) if c.kind != "same"] == [
        Change("gone", "Friday"),
        Change("new", "Monday"),
    ]


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("a " * 1_900, "b a " * 950),
        ("a b " * 950, "b b a " * 630),
        ("a\n" * 50_000, "b\n" + "a\n" * 50_000 + "c\n"),
        ("a\n" * 50_000, "b\na\n" * 25_000),
    ],
)
def test_texts_that_are_alike_all_over_take_moments(before, after):
    started = time.process_time()
    changes = word_changes(before, after)
    assert time.process_time() - started < 5
    assert "".join(c.text for c in changes if c.kind != "gone") == after


def test_very_long_texts_are_compared_by_line():
    before = "one two three\n" * 3000
    after = before + "four\n"
    assert word_changes(before, after)[-1] == Change("new", "four\n")
