import pytest

from spaces.domain.phrases import cut_out, texts_in


@pytest.mark.parametrize(
    ("phrase", "text", "left"),
    [
        ("acme corp", "Call ACME Corp, then Acme corp again", "Call [redacted], then [redacted] again"),
        ("acme corp", "Call acme and corp", "Call acme and corp"),
        ("a.c*", "a.c* and abc", "[redacted] and abc"),
        ("ZÜRICH", "in zürich", "in [redacted]"),
        ("caf\u00e9", "the cafe\u0301 there", "the [redacted] there"),
        ("周二", "部署窗口是周二下午", "部署窗口是[redacted]下午"),
        ("  acme  ", "acme", "[redacted]"),
        ("привет", "ПРИВЕТ, мир", "[redacted], мир"),
    ],
)
def test_a_phrase_is_cut_out_in_any_case(phrase: str, text: str, left: str) -> None:
    assert cut_out(phrase, text, 1000) == left


def test_a_text_at_its_limit_does_not_grow() -> None:
    text = "abc" * 333
    assert cut_out("abc", text, 1000) == "█" * 333


def test_a_text_without_the_phrase_stays_byte_for_byte() -> None:
    text = "cafe\u0301 \u200b"
    assert cut_out("other", text, 10) is text


def test_the_texts_of_a_json_value_are_its_keys_strings_and_numbers() -> None:
    value = {"a": ["b", 4711, 1.5, None, True], "c": {"d": "e"}}
    assert list(texts_in(value)) == ["a", "b", "4711", "1.5", "c", "d", "e"]
