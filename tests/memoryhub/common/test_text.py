import json
import sys
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memoryhub.common.errors import InvalidRequest, ValidationFailed
from memoryhub.common.text import (
    MAX_BODY_DEPTH,
    MAX_DEPTH,
    check_text,
    excerpt,
    fold_statement,
    is_blank,
    nfc,
    parse_json,
    text_hash,
)

NUL = "Must not contain the NUL character. Remove it."
LONE = "Must not contain half of a surrogate pair. Send valid Unicode."
FAMILY = "👨‍👩‍👧‍👦"
ENGLAND = "🏴\U000e0067\U000e0062\U000e0065\U000e006e\U000e0067\U000e007f"


def nested(levels: int) -> Any:
    value: Any = "leaf"
    for _ in range(levels):
        value = [value]
    return value


@pytest.mark.parametrize(
    ("value", "path", "field", "message"),
    [
        ({"text": "a\0b"}, "", "text", NUL),
        ({"text": "ok \ud83d"}, "", "text", LONE),
        ({"tags": ["fine", "\0"]}, "", "tags[1]", NUL),
        ({"a": [{"b": "\udc00"}]}, "data", "data.a[0].b", LONE),
        ("\0", "due_at", "due_at", NUL),
        (["x", "\0"], "items[2].topics", "items[2].topics[1]", NUL),
        (
            {"data": {"k\0": 1}},
            "",
            'data["k\\u0000"]',
            "This key must not contain the NUL character. Rename it.",
        ),
        (
            {"data": {"\ud83d": 1}},
            "",
            'data["\\ud83d"]',
            "This key must not contain half of a surrogate pair. Send valid Unicode.",
        ),
        ({"value": float("nan")}, "", "value", "Must be a finite number."),
        ({"value": [1, float("-inf")]}, "", "value[1]", "Must be a finite number."),
        ("\0", "", "arguments", NUL),
    ],
)
def test_what_cannot_be_stored_is_refused_by_the_name_of_its_field(
    value: Any, path: str, field: str, message: str
) -> None:
    with pytest.raises(ValidationFailed) as refusal:
        check_text(value, path)
    assert refusal.value.fields == {field: [message]}


@pytest.mark.parametrize(
    "value",
    [
        None,
        True,
        10**400,
        -0.0,
        "",
        "\x01\t\n\x7f",
        "👍" + FAMILY,
        "עברית",
        {"": {"a.b": [[], {}]}},
        "\ufffe",
    ],
)
def test_everything_else_is_accepted(value: Any) -> None:
    assert check_text(value, "value") is None


def test_nesting_is_accepted_up_to_its_limit_and_refused_beyond() -> None:
    check_text(nested(MAX_DEPTH), "data")
    with pytest.raises(ValidationFailed) as refusal:
        check_text(nested(MAX_DEPTH + 1), "data")
    assert refusal.value.fields == {
        "data[0][0][0]": ["Must not be nested more than 64 levels deep. Flatten it."]
    }


def test_very_deep_nesting_is_refused_and_not_a_recursion_error() -> None:
    with pytest.raises(ValidationFailed):
        check_text({"data": nested(100_000)})


@given(st.text(st.characters(categories=("C", "L", "M", "N", "P", "S", "Z")), max_size=30))
def test_a_text_is_refused_exactly_when_the_database_could_not_hold_it(text: str) -> None:
    storable = "\0" not in text and text.encode("utf-8", "replace").decode() == text
    try:
        check_text({text: text})
    except ValidationFailed:
        assert not storable
    else:
        assert storable


def test_json_reads_as_its_value() -> None:
    body = '{"a": [1, 2.5, -0, 1e3, true, null, "é😀"], "b": {"c": ""}}'.encode()
    assert parse_json(body) == {"a": [1, 2.5, 0, 1000.0, True, None, "é😀"], "b": {"c": ""}}


def test_json_may_begin_with_a_byte_order_mark() -> None:
    assert parse_json(b"\xef\xbb\xbf{}") == {}


def test_of_a_repeated_key_the_last_one_holds() -> None:
    assert parse_json(b'{"a": 1, "a": 2}') == {"a": 2}


def test_nul_and_lone_surrogates_pass_to_the_check_that_names_their_field() -> None:
    assert parse_json(b'{"a": "\\u0000", "b": "\\ud83d"}') == {"a": "\0", "b": "\ud83d"}


@pytest.mark.parametrize(
    ("body", "message"),
    [
        (b"", "The body is not valid JSON at line 1, column 1. Correct it."),
        (b'{"a":\n  hunter2}', "The body is not valid JSON at line 2, column 3. Correct it."),
        (b"{'a': 1}", "The body is not valid JSON at line 1, column 2. Correct it."),
        (b'{"a": 1} x', "The body is not valid JSON at line 1, column 10. Correct it."),
        (b'{"a": "\x00"}', "The body is not valid JSON at line 1, column 8. Correct it."),
        (b'{"a": "\xff"}', "The body is not valid UTF-8. Send JSON in UTF-8."),
        (b'{"a": "\xed\xa0\xbd"}', "The body is not valid UTF-8. Send JSON in UTF-8."),
        ('{"a": 1}'.encode("utf-16"), "The body is not valid UTF-8. Send JSON in UTF-8."),
        (b'{"value": NaN}', "value: Must be a finite number."),
        (b'{"data": {"a": [0, -Infinity]}}', "data.a[1]: Must be a finite number."),
        (b'{"value": 1e999}', "value: Must be a finite number."),
        (b"-1e999", "arguments: Must be a finite number."),
        (b'{"a": ' + b"9" * 5000 + b"}", "The body has a number with too many digits. Send it as a string."),
        (b"[" * 2000 + b"]" * 2000, "The body is nested more than 80 levels deep. Flatten it."),
        (b'{"a":' * 90 + b"1" + b"}" * 90, "The body is nested more than 80 levels deep. Flatten it."),
        (b"[" * 500_000, "The body is nested more than 80 levels deep. Flatten it."),
    ],
)
def test_what_is_not_json_is_an_invalid_request_that_says_where(body: bytes, message: str) -> None:
    with pytest.raises(InvalidRequest) as refusal:
        parse_json(body)
    assert refusal.value.message == message


def test_a_body_may_be_as_deep_as_the_limit_and_brackets_in_texts_do_not_count() -> None:
    assert parse_json(json.dumps(nested(MAX_BODY_DEPTH)).encode()) == nested(MAX_BODY_DEPTH)
    with pytest.raises(InvalidRequest):
        parse_json(json.dumps(nested(MAX_BODY_DEPTH + 1)).encode())
    assert parse_json(json.dumps("[{" * 500).encode()) == "[{" * 500


def test_identities_are_compared_composed() -> None:
    assert nfc("Zu\u0308rich") == "Z\u00fcrich"


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Deploys on Friday", "deploys on friday."),
        ("Deploys on Friday", "  DEPLOYS\t on\n\nFriday !!"),
        ("Really", "Really…"),
        ("ｆｕｌｌ　ｗｉｄｔｈ", "full width"),
        ("部署窗口是周二。", "部署窗口是周二"),
        ("Straße", "STRASSE"),
        ("Zürich", "Zu\u0308rich"),
        ("ﬁne", "fine"),
        ("Is it", "is it ?"),
        ("no\u00a0break", "no break"),
    ],
)
def test_the_same_statement_in_other_clothes_folds_alike(one: str, other: str) -> None:
    assert fold_statement(one) == fold_statement(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Port 8080", "Port 8081"),
        ("Use it", "Do not use it"),
        ("We write C#", "We write C"),
        ("We write C++", "We write C"),
        ("At 80%", "At 80"),
        ("Version 1.2", "Version 12"),
        ("It costs -5", "It costs 5"),
        ("Zürich", "Zurich"),
        ("!", "?"),
        ("...", ""),
        ("Path is src/", "Path is src"),
    ],
)
def test_different_statements_stay_different(one: str, other: str) -> None:
    assert fold_statement(one) != fold_statement(other)


@given(st.text(max_size=40))
def test_folding_twice_changes_nothing_more(text: str) -> None:
    assert fold_statement(fold_statement(text)) == fold_statement(text)


def test_folding_comes_to_rest_for_every_character_there_is() -> None:
    for code in range(sys.maxunicode + 1):
        folded = fold_statement(chr(code))
        assert fold_statement(folded) == folded


@pytest.mark.parametrize(
    "text",
    ["", "   ", "\u200b", "\n\t\r", "\u2060\ufeff\u00ad", "\u3164", "\u2800", "\ufe0f", "\u3000", "\u200e"],
)
def test_text_without_anything_to_see_is_blank(text: str) -> None:
    assert is_blank(text)


@pytest.mark.parametrize("text", ["a", " . ", "👍", "\u200b0", "部", "\u0301", "❤️"])
def test_text_with_anything_to_see_is_not_blank(text: str) -> None:
    assert not is_blank(text)


def test_the_hash_is_sha_256_of_the_utf_8() -> None:
    expected = "3f4c3f9e0d61d70de6ac7f4f0ec0ac2a2a9f1ddbf5e3ba7ea12a3bd6e0f6e0f1"
    assert text_hash("") == bytes.fromhex("e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855")
    assert text_hash("é") != text_hash("e\u0301")
    assert text_hash("a").hex() != expected


@pytest.mark.parametrize(
    ("text", "size", "cut"),
    [
        ("short", 5, "short"),
        ("a long text", 6, "a lon…"),
        ("a long text", 7, "a long…"),
        ("a long text", 8, "a long…"),
        ("", 0, ""),
        ("abc", 1, "…"),
        (f"ab{FAMILY}cd", 6, "ab…"),
        (f"ab{FAMILY}cd", 10, f"ab{FAMILY}…"),
        ("cafe\u0301 noir", 5, "caf…"),
        ("🇨🇭🇯🇵🇫🇷", 4, "🇨🇭…"),
        ("🇨🇭🇯🇵🇫🇷", 5, "🇨🇭🇯🇵…"),
        ("ab👍🏽cd", 4, "ab…"),
        ("ab❤️cd", 4, "ab…"),
        (f"ab{ENGLAND}cd", 6, "ab…"),
    ],
)
def test_an_excerpt_ends_in_an_ellipsis_and_never_inside_a_sign(text: str, size: int, cut: str) -> None:
    assert excerpt(text, size) == cut


@given(st.text(max_size=60), st.integers(1, 60))
def test_an_excerpt_is_never_longer_than_asked(text: str, size: int) -> None:
    cut = excerpt(text, size)
    assert len(cut) <= size
    assert cut == text or text.startswith(cut.removesuffix("…"))
