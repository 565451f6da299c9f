import pytest

from memoryhub.web.oddities import count_odd, pieces
from memoryhub.web.tags import visible

ODD = {
    "right-to-left override": "\u202e",
    "isolate": "\u2066",
    "zero-width space": "\u200b",
    "zero-width joiner": "\u200d",
    "word joiner": "\u2060",
    "byte-order mark": "\ufeff",
    "soft hyphen": "\u00ad",
    "tag letter": "\U000e0061",
    "line separator": "\u2028",
    "escape": "\x1b",
    "delete": "\x7f",
    "Hangul filler": "\u3164",
    "Braille blank": "\u2800",
    "variation selector": "\U000e0100",
    "private use": "\ue000",
    "Mongolian vowel separator": "\u180e",
}


@pytest.mark.parametrize("character", ODD.values(), ids=ODD.keys())
def test_a_character_that_cannot_be_seen_is_named_where_it_stands(character):
    assert count_odd(f"pay{character}pal") == 1
    assert f"U+{ord(character):04X}" in visible(f"pay{character}pal")
    assert character not in visible(f"pay{character}pal")


@pytest.mark.parametrize(
    "text",
    [
        "plain",
        "tab\tand\nline",
        "日本語　全角",
        "שלום",
        "é e\u0301",
        "👩‍👩‍👧",
        "❤️ 1️⃣",
        "🏳️‍🌈",
        "👩🏽‍💻",
        "a\u00a0b",
    ],
)
def test_ordinary_text_is_left_as_it_is(text):
    assert count_odd(text) == 0
    assert "".join(piece.text for piece in pieces(text)) == text


def test_nothing_is_dropped_or_added_besides_the_names():
    text = "a\u202eb\u200b\u200bc"
    assert "".join(piece.text for piece in pieces(text)) == text


def test_markup_stays_text():
    assert visible("<b>\u202e</b>") == (
        '&lt;b&gt;<span class="odd" title="RIGHT-TO-LEFT OVERRIDE">U+202E</span>&lt;/b&gt;'
    )
