"""The default model's vectors: what they tell, and that they are the same whatever else is going on."""

import hashlib
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from spaces.embedding.build import ModelFiles
from spaces.embedding.canaries import CANARIES, calibrate, canary_vectors, check_canaries
from spaces.embedding.default import COSINES, MEAN_DIGEST
from spaces.embedding.e5 import E5, MEAN_FILE
from spaces.embedding.mean import common_part
from spaces.embedding.neutral import PAIRS, passages, questions

FACTS = [
    "[Monday 8 May 2023] Ana: The office dog is called Biscuit.",
    "[Tuesday 9 May 2023] Ben: Database failover takes 40 seconds.",
    "[Friday 2 June 2023] Ana: I booked a cabin by the lake for August.",
    "[Monday 5 June 2023] 由紀: 会議室の予約は前日の正午までにお願いします。",
    "[Sunday 9 July 2023] ci-agent: BUILD-4711 failed with exit code 137.",
]
QUESTIONS = {
    "What is our pet's name?": 0,
    "how long is switching to the standby": 1,
    "Where do we spend the summer holidays?": 2,
    "Until when must a meeting room be reserved?": 3,  # in another language than the fact
    "ペットの名前は?": 0,
    "which build ran out of memory": 4,
}


@pytest.mark.parametrize(("question", "answer"), QUESTIONS.items())
def test_a_question_is_nearest_to_its_answer(e5: E5, question: str, answer: int) -> None:
    facts = np.array(e5.embed(FACTS, "passage"))
    assert int(np.argmax(facts @ e5.embed([question], "query")[0])) == answer


def test_questions_find_their_own_statement_among_all_others(e5: E5) -> None:
    cosines = np.array(e5.embed(questions(), "query")) @ np.array(e5.embed(passages(), "passage")).T
    first = (cosines.argmax(axis=1) == np.arange(len(PAIRS))).mean()
    assert first > 0.85


def test_vectors_have_length_one_and_the_models_size(e5: E5) -> None:
    for text in ["x", "👍", "が", "word " * 3000, "\u200b.", "  spaced   out  ", "\x00\x07 control"]:
        vector = e5.embed([text], "passage")[0]
        assert (vector.shape, vector.dtype) == ((384,), np.float32)
        assert float(np.linalg.norm(vector)) == pytest.approx(1, abs=1e-5)


def test_a_vector_depends_on_its_text_alone(e5: E5) -> None:
    together = e5.embed(FACTS, "passage")
    for text, vector in zip(FACTS, together, strict=True):
        assert np.array_equal(e5.embed([text], "passage")[0], vector)


def test_callers_side_by_side_get_the_same_as_alone(e5: E5) -> None:
    alone = e5.embed(FACTS, "passage")
    with ThreadPoolExecutor(4) as pool:
        many = list(pool.map(lambda i: e5.embed([FACTS[i % 5]], "passage")[0], range(40)))
    assert all(np.array_equal(vector, alone[i % 5]) for i, vector in enumerate(many))


def test_the_end_of_a_text_that_is_too_long_counts_too(e5: E5) -> None:
    filler = "The weather was grey and nothing happened at all. " * 120
    question = e5.embed(["Where is the spare key?"], "query")[0]
    plain, told = e5.embed([filler, filler + "The spare key is under the blue flower pot."], "passage")
    assert float(told @ question) > float(plain @ question)


def test_the_end_of_a_long_summary_is_found_by_its_own_piece(e5: E5) -> None:
    from spaces.embedding.chunks import chunks

    middle = " ".join(
        f"In week {i} the migration of service {i} was discussed and put off." for i in range(120)
    )
    pieces = chunks("[Monday 8 May 2023] Ana: ", f"{middle} The office dog is called Biscuit.")
    found = np.array(e5.embed(pieces, "passage")) @ e5.embed(["What is our pet's name?"], "query")[0]
    assert int(found.argmax()) == len(pieces) - 1 > 5


def test_white_space_and_invisible_characters_make_no_difference(e5: E5) -> None:
    one, other = e5.embed(["The office dog", "The\u200b  office\n dog"], "passage")
    assert np.array_equal(one, other)


def test_a_question_and_a_statement_are_told_apart(e5: E5) -> None:
    asked, said = e5.embed(["the office dog"], "query")[0], e5.embed(["the office dog"], "passage")[0]
    assert float(asked @ said) < 0.999


def test_the_mean_is_the_one_that_was_computed_from_the_neutral_texts(files: ModelFiles) -> None:
    assert hashlib.sha256(MEAN_FILE.read_bytes()).hexdigest() == MEAN_DIGEST
    kept, anew = np.load(MEAN_FILE), common_part(E5(files, centred=False))
    assert float(kept @ anew / (np.linalg.norm(kept) * np.linalg.norm(anew))) > 0.9999


def test_the_scale_of_similarity_is_what_calibrating_finds(e5: E5) -> None:
    scale = calibrate(e5)
    assert (scale.unrelated, scale.relevant) == pytest.approx(COSINES, abs=0.01)
    answers = np.array(e5.embed(passages(), "passage"))
    asked = np.array(e5.embed(questions(), "query"))
    own = [scale.similarity(float(a @ q)) for a, q in zip(answers, asked, strict=True)]
    other = [scale.similarity(float(a @ q)) for a, q in zip(np.roll(answers, 7, axis=0), asked, strict=True)]
    assert np.median(own) > 0.6
    assert np.mean(np.array(other) > 0.6) < 0.02


def test_the_canaries_are_the_same_every_time(e5: E5) -> None:
    kept = canary_vectors(e5)
    assert len(kept) == len(CANARIES)
    check_canaries(e5, kept)
