import pytest
from pgvector import SparseVector

from spaces.domain.search.bm25 import idf, memory_weights, query_weights
from spaces.domain.search.lexemes import dimension
from spaces.domain.search.tokens import query_words


def weight(vector: SparseVector, lexeme: str) -> float:
    return dict(zip(vector.indices(), vector.values(), strict=True)).get(dimension(lexeme), 0.0)


def test_repeating_a_word_says_less_each_time() -> None:
    once, twice, often = (weight(memory_weights({"tea": n}, 30), "tea") for n in (1, 2, 100))
    assert 0 < once < twice < often < 1
    assert twice - once < once


def test_length_hardly_counts_among_short_texts_and_clearly_among_long_ones() -> None:
    ten, forty, long, book = (weight(memory_weights({"tea": 1}, n), "tea") for n in (10, 40, 1_000, 50_000))
    assert ten == pytest.approx(forty, rel=0.1)
    assert long < 0.7 * forty
    assert book < 0.1 * long


def test_length_counts_evenly_where_short_texts_end() -> None:
    short, longer = (weight(memory_weights({"tea": 1}, n), "tea") for n in (200, 201))
    assert short == pytest.approx(longer, rel=0.002)


def test_a_rare_word_counts_for_more() -> None:
    assert idf(0, 100) > idf(1, 100) > idf(50, 100) > idf(100, 100) > 0


def test_a_count_older_than_the_memories_it_counts_does_no_harm() -> None:
    assert idf(600, 500) > 0


def test_a_query_sums_to_one_when_every_word_is_known() -> None:
    vector = query_weights(query_words("deploy window"), {"deploy": 3, "window": 9}, 100)
    assert sum(vector.values()) == pytest.approx(1)
    assert weight(vector, "deploy") > weight(vector, "window")


def test_an_unknown_word_takes_the_share_of_the_rarest() -> None:
    vector = query_weights(query_words("deploy kubernetes"), {"deploy": 3}, 100)
    assert sum(vector.values()) == pytest.approx(idf(3, 100) / (idf(3, 100) + idf(0, 100)))


def test_other_spellings_of_a_known_word_are_not_unknown_words() -> None:
    known = {"bench": 1, "100821": 1}
    vector = query_weights(query_words("BENCH-100821"), known, 100)
    assert sum(vector.values()) == pytest.approx(1)
