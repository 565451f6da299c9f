from random import Random

import pytest

from memoryhub.common.secrets import cut, cut_text, marked
from memoryhub.common.secrets.shapes import expand

RANDOM = Random(7)
KEY = expand("ghp_{crc:30}", RANDOM)
OTHER = expand("ghp_{crc:30}", RANDOM)
PASSWORD = expand("{base62:12}!", RANDOM)
MARK = "[REDACTED:github_token]"


def test_every_string_of_a_value_is_walked_and_the_value_itself_left_alone() -> None:
    value = {"text": f"use {KEY}", "data": {"a": [{"b": KEY}, 1, None, True, 1.5]}, "tags": ["x", KEY]}
    done = cut(value)
    assert done.value == {
        "text": f"use {MARK}",
        "data": {"a": [{"b": MARK}, 1, None, True, 1.5]},
        "tags": ["x", MARK],
    }
    assert done.told == [{"category": "github_token", "count": 3}]
    assert done.places == [("text",), ("data", "a", 0, "b"), ("tags", 1)]
    assert value["text"] == f"use {KEY}"


def test_names_of_members_are_walked_and_two_that_are_cut_stay_two() -> None:
    done = cut({KEY: 1, OTHER: 2, "plain": 3})
    assert done.value == {MARK: 1, f"{MARK} 2": 2, "plain": 3}


def test_a_field_whose_name_says_that_it_holds_a_secret_is_cut() -> None:
    done = cut({"db": {"host": "db.internal", "password": PASSWORD, "apiKey": expand("{hex:32}", RANDOM)}})
    assert done.value == {
        "db": {"host": "db.internal", "password": "[REDACTED:password]", "apiKey": "[REDACTED:secret]"}
    }


def test_a_pair_of_name_and_value_is_read_as_a_field() -> None:
    assert cut([{"name": "DB_PASSWORD", "value": PASSWORD}, {"name": "REGION", "value": "eu-1"}]).value == [
        {"name": "DB_PASSWORD", "value": "[REDACTED:password]"},
        {"name": "REGION", "value": "eu-1"},
    ]


@pytest.mark.parametrize(
    "value",
    [
        {"password": "required"},
        {"token": None, "tokens": 4096, "token_count": "4096", "page_token": expand("{url:60}", RANDOM)},
        {"passwordHint": "the usual one", "secretName": "db-credentials", "key": "a/b/c"},
        {"apiKey": "${API_KEY}", "password": "<your password>", "secret": "vault:kv/app#secret"},
        [1, 2.5, True, None, "", " "],
        {
            "commit": expand("{hex:40}", RANDOM),
            "id": expand("mem_{hex:32}", RANDOM),
            "sha256": expand("{hex:64}", RANDOM),
        },
    ],
)
def test_what_holds_no_secret_stays_equal(value: object) -> None:
    assert cut(value).value == value
    assert cut(value).told == []


def test_a_text_of_little_else_is_mostly_secret() -> None:
    assert cut({"text": KEY}).mostly_secret
    assert not cut(
        {"text": f"The release was signed off on Tuesday by Ann, who used {KEY} for it."}
    ).mostly_secret
    assert not cut({"text": "nothing"}).mostly_secret


def test_what_was_cut_can_be_told_later_from_the_marks() -> None:
    text, _ = cut_text(f"use {KEY}, not {OTHER}; password: {PASSWORD}")
    assert marked(text, {"a": [MARK]}, ["plain"]) == [
        {"category": "github_token", "count": 3},
        {"category": "password", "count": 1},
    ]


def test_half_a_surrogate_pair_and_deep_nesting_are_walked_without_harm() -> None:
    deep: object = f"x {KEY}"
    for _ in range(150):
        deep = [deep]
    assert KEY not in str(cut(deep).value)
    assert cut(f"\ud83d {KEY} \ud83d").value == f"\ud83d {MARK} \ud83d"
