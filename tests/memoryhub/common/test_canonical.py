import json
from typing import Any

import pytest
from django.db import connection
from hypothesis import given
from hypothesis import strategies as st

from memoryhub.common.canonical import canonical_json, digest

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)


def test_the_example_of_the_standard_is_spelt_as_there() -> None:
    value = {
        "numbers": [333333333.33333329, 1e30, 4.50, 2e-3, 0.000000000000000000000000001],
        "string": "\u20ac$\u000f\u000aA'\u0042\u0022\u005c\\\"/",
        "literals": [None, True, False],
    }
    expected = (
        '{"literals":[null,true,false],'
        '"numbers":[333333333.3333333,1e+30,4.5,0.002,1e-27],'
        '"string":"€$\\u000f\\nA\'B\\"\\\\\\\\\\"/"}'
    )
    assert canonical_json(value) == expected.encode()


def test_keys_are_sorted_by_utf_16_as_the_standard_says() -> None:
    keys = ["\u20ac", "\r", "\ufb33", "1", "\U0001f600", "\u0080", "\u00f6"]
    spelt = canonical_json(dict.fromkeys(keys, 0)).decode()
    assert list(json.loads(spelt)) == ["\r", "1", "\u0080", "\u00f6", "\u20ac", "\U0001f600", "\ufb33"]


def test_the_order_of_keys_and_the_spelling_of_numbers_do_not_matter() -> None:
    assert digest({"a": 1, "b": [2.0, -0.0]}) == digest({"b": [2, 0], "a": 1.0})


@pytest.mark.parametrize(
    ("one", "other"), [(1, "1"), (1, True), (0, False), (None, ""), ([], {}), ([1], [[1]])]
)
def test_values_of_different_types_differ(one: Any, other: Any) -> None:
    assert digest(one) != digest(other)


def test_whole_numbers_that_share_a_double_differ() -> None:
    assert canonical_json(2**53 + 1) == b"9007199254740993"
    assert digest(10**30 + 1) != digest(10**30)


def test_a_huge_double_and_the_same_whole_number_are_alike() -> None:
    assert canonical_json(1e23) == canonical_json(10**23) == b"1e+23"


def test_a_whole_number_beyond_every_double_keeps_its_digits() -> None:
    assert canonical_json(10**400) == b"1" + b"0" * 400


@pytest.mark.parametrize("value", [float("nan"), float("inf"), "\ud800", object()])
def test_what_is_not_json_is_refused(value: Any) -> None:
    with pytest.raises(ValueError):  # noqa: PT011
        canonical_json({"value": value})


def test_a_key_that_is_not_a_string_is_refused() -> None:
    with pytest.raises(TypeError):
        canonical_json({1: "a"})


@given(JSON)
def test_the_spelling_is_json_that_spells_itself(value: Any) -> None:
    spelt = canonical_json(value)
    assert canonical_json(json.loads(spelt)) == spelt


@pytest.mark.django_db
@pytest.mark.parametrize(
    "value",
    [1e21, 1e23, 1.7976931348623157e308, 5e-324, -0.0, 1.0, 2**53 + 1, 10**22, 0.1, "é\u2028", [1e-7]],
)
def test_what_a_jsonb_column_gives_back_is_spelt_as_what_was_put_in(value: Any) -> None:
    with connection.cursor() as cursor:
        cursor.execute("select (%s::jsonb)::text", [json.dumps(value)])
        assert canonical_json(json.loads(cursor.fetchone()[0])) == canonical_json(value)
