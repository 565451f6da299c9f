import time
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spaces.embedding.chunks import LONGEST, LONGEST_HEADER, chunks, size

HEADER = "[Monday 8 May 2023] ana (Main): "
SENTENCES = [f"Sentence number {i} says that shelf {i} holds box {i * 7}." for i in range(160)]
JAPANESE = [f"これは第{i}番目の文で、棚の箱について述べています。" for i in range(160)]


def test_a_short_text_is_one_piece() -> None:
    assert chunks(HEADER, "The office dog is called Biscuit.") == [
        f"{HEADER}The office dog is called Biscuit."
    ]


@pytest.mark.parametrize(
    ("text", "sentences"),
    [(" ".join(SENTENCES), SENTENCES), ("\n".join(SENTENCES), SENTENCES), ("".join(JAPANESE), JAPANESE)],
    ids=["sentences", "lines", "Japanese"],
)
def test_a_long_text_is_cut_between_sentences_with_one_of_overlap(text: str, sentences: list[str]) -> None:
    pieces = [piece.removeprefix(HEADER) for piece in chunks(HEADER, text)]
    assert len(pieces) > 5
    held = [[s for s in sentences if s in piece] for piece in pieces]
    assert {s for piece in held for s in piece} == set(sentences)
    assert all(former[-1] == later[0] for former, later in pairwise(held))
    assert ["".join(piece.split()) for piece in pieces] == ["".join("".join(h).split()) for h in held]


def test_every_piece_has_the_header_and_none_is_too_long() -> None:
    for piece in chunks(HEADER, " ".join(SENTENCES)):
        assert piece.startswith(HEADER)
        assert size(piece.removeprefix(HEADER)) <= LONGEST


def test_a_text_in_wide_characters_makes_smaller_pieces() -> None:
    assert max(len(piece) for piece in chunks("", "".join(JAPANESE))) < LONGEST * 0.55


def test_a_huge_header_leaves_room_for_the_text() -> None:
    assert chunks("x" * 5000, "text") == ["x" * LONGEST_HEADER + "text"]


def test_a_sentence_without_end_is_cut_at_white_space() -> None:
    words = "word " * 1000
    assert all(set(piece.split()) == {"word"} for piece in chunks("", words))


@pytest.mark.parametrize(
    "unit", ["x", "。", ".", "? ", "\n", " ", "(", ". \n", '."', "a,", "।", "👍", "か゛", "\u200b", "한"]
)
def test_no_text_takes_long(unit: str) -> None:
    text = unit * (50_000 // len(unit))
    began = time.thread_time()
    pieces = chunks("", text)
    assert time.thread_time() - began < 1
    assert all(size(piece) <= LONGEST for piece in pieces)


@given(st.text(min_size=1, max_size=4000).filter(str.strip))
def test_nothing_of_any_text_is_lost(text: str) -> None:
    pieces = chunks("", text.strip())
    assert pieces
    assert set("".join(text.split())) == set("".join("".join(pieces).split()))
    assert "".join(text.split())[-20:] in "".join(pieces[-1].split()) or len(pieces) > 1
