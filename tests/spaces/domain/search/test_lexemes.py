from hashlib import sha256
from uuid import uuid4

import pytest
from django.db import connection
from hypothesis import given
from hypothesis import strategies as st

from spaces.domain.search.lexemes import (
    MOST_BYTES,
    MOST_LEXEMES,
    capped,
    dimension,
    lexemes_of,
    tenant_lexeme,
    to_tsquery_literal,
    to_tsvector_literal,
)


@pytest.mark.django_db
@pytest.mark.parametrize(
    "lexeme", ["deploy", "c++", "o'brien", "back\\slash", "a b", "a:1", "&|!()", "👍", "火曜"]
)
def test_any_lexeme_survives_the_way_to_the_database(lexeme: str) -> None:
    with connection.cursor() as cursor:
        cursor.execute(
            "select tsvector_to_array(%s::tsvector), %s::tsvector @@ %s::tsquery",
            [to_tsvector_literal([lexeme]), to_tsvector_literal([lexeme, "x"]), to_tsquery_literal([lexeme])],
        )
        assert cursor.fetchone() == ([lexeme], True)


@pytest.mark.django_db
def test_a_query_asks_for_any_lexeme_or_for_every_one() -> None:
    vector = to_tsvector_literal(["deploy", "tea"])
    asked = [to_tsquery_literal(["deploy", "x"]), to_tsquery_literal(["deploy", "x"], every=True)]
    with connection.cursor() as cursor:
        cursor.execute(
            "select %s::tsvector @@ %s::tsquery, %s::tsvector @@ %s::tsquery",
            [
                vector,
                asked[0],
                vector,
                asked[1],
            ],
        )
        assert cursor.fetchone() == (True, False)


@pytest.mark.django_db
def test_the_largest_vector_fits() -> None:
    account = tenant_lexeme(uuid4())
    for letter in ("x", "𠮷"):
        lexemes = [(sha256(str(n).encode()).hexdigest() + letter * 64)[:64] for n in range(40_000)]
        literal = to_tsvector_literal(lexemes, [account])
        with connection.cursor() as cursor:
            cursor.execute("select tsvector_to_array(%s::tsvector)", [literal])
            [held] = cursor.fetchone()
        assert {account, lexemes[0]} <= set(held)


def test_a_text_keeps_its_first_lexemes() -> None:
    many = [f"w{n}" for n in range(MOST_LEXEMES + 5)]
    assert capped(many) == many[:MOST_LEXEMES]
    assert capped(["a", "b", "a"]) == ["a", "b"]
    long = [f"{n:06}" + "字" * 58 for n in range(10_000)]
    assert 0 < sum(len(lexeme.encode()) for lexeme in capped(long)) <= MOST_BYTES


def test_lexemes_are_read_back() -> None:
    assert lexemes_of("'@0f' 'c++' 'src/a.py' '火曜'") == {"@0f", "c++", "src/a.py", "火曜"}


@given(st.text(min_size=1))
def test_every_lexeme_has_a_place(lexeme: str) -> None:
    if lexeme.isprintable():
        assert 0 <= dimension(lexeme) < 2**29
