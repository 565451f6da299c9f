from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from actions.domain.links import find_links
from actions.domain.preview import preview
from memoryhub.common.canonical import canonical_json
from memoryhub.common.odd import hiding_kinds, mixed_words, pieces, visible

JERUSALEM = ZoneInfo("Asia/Jerusalem")
NEW_YORK = ZoneInfo("America/New_York")

texts = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"))
values = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | texts,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(texts, inner, max_size=4),
    max_leaves=12,
)


def rows(payload: dict, zone: ZoneInfo = JERUSALEM) -> dict[str, str]:
    return {row.name: row.text for row in preview(payload, zone).rows}


def test_every_value_has_a_row_in_the_order_of_the_keys() -> None:
    shown = preview(
        {"to": ["a@b.ch", "c@d.ch"], "cc": [], "body": {"n": 1.50, "on": True, "x": None, "y": {}}}, JERUSALEM
    )
    assert [(r.name, r.kind, r.text) for r in shown.rows] == [
        ("body.n", "number", "1.5"),
        ("body.on", "boolean", "true"),
        ("body.x", "null", "null"),
        ("body.y", "empty object", "{}"),
        ("cc", "empty list", "[]"),
        ("to[0]", "text", "a@b.ch"),
        ("to[1]", "text", "c@d.ch"),
    ]


def test_a_text_that_says_true_is_told_from_the_value_true() -> None:
    kinds = {r.name: r.kind for r in preview({"a": "true", "b": True, "c": "null", "d": "7"}, JERUSALEM).rows}
    assert kinds == {"a": "text", "b": "boolean", "c": "text", "d": "text"}


def test_two_different_payloads_never_look_alike_by_their_keys() -> None:
    assert rows({"a.b": 1}) == {'["a.b"]': "1"}
    assert rows({"a": {"b": 1}}) == {"a.b": "1"}
    assert rows({"a[0]": 1}) != rows({"a": [1]})


@given(st.dictionaries(texts, values, max_size=5))
def test_nothing_of_a_payload_is_left_out_or_cut(payload: dict) -> None:
    def leaves(value: object) -> list[str]:
        if isinstance(value, dict) and value:
            return [leaf for key in sorted(value) for leaf in leaves(value[key])]
        if isinstance(value, list) and value:
            return [leaf for item in value for leaf in leaves(item)]
        return [value if isinstance(value, str) else canonical_json(value).decode()]

    shown = preview(payload, JERUSALEM)
    assert [row.text for row in shown.rows] == leaves(payload)
    assert len({row.name for row in shown.rows}) == len(shown.rows)
    assert shown.size == len(canonical_json(payload))


def test_a_large_text_is_shown_whole() -> None:
    assert rows({"body": "x" * 30_000}) == {"body": "x" * 30_000}


@given(texts)
def test_the_pieces_of_a_text_make_it_again(text: str) -> None:
    assert "".join(p.text for p in pieces(text)) == text


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("pay\u202ecod.exe", "pay⟦U+202E RIGHT-TO-LEFT OVERRIDE⟧cod.exe"),
        ("a\u200bb", "a⟦U+200B ZERO WIDTH SPACE⟧b"),
        ("a\u2066b\u2069", "a⟦U+2066 LEFT-TO-RIGHT ISOLATE⟧b⟦U+2069 POP DIRECTIONAL ISOLATE⟧"),
        ("ok\U000e0041", "ok⟦U+E0041 TAG LATIN CAPITAL LETTER A⟧"),
        ("co\u00adop", "co⟦U+00AD SOFT HYPHEN⟧op"),
        ("\ufeffx", "⟦U+FEFF ZERO WIDTH NO-BREAK SPACE⟧x"),
        ("x\u3164y", "x⟦U+3164 HANGUL FILLER⟧y"),
        ("a\ufe0fb", "a⟦U+FE0F VARIATION SELECTOR-16⟧b"),
        ("😀\U000e0120", "😀⟦U+E0120 VARIATION SELECTOR-49⟧"),
        ("a\rb", "a⟦U+000D CARRIAGE RETURN⟧b"),
        ("a\x1b[2Jb", "a⟦U+001B ESCAPE⟧[2Jb"),
        ("a\u2028b", "a⟦U+2028 LINE SEPARATOR⟧b"),
        ("\ue000", "⟦U+E000 PRIVATE USE CHARACTER⟧"),
    ],
)
def test_characters_that_hide_are_shown_by_name(text: str, shown: str) -> None:
    assert visible(text) == shown


@pytest.mark.parametrize(
    "text",
    [
        "Zürich, 2. Etage\n\tline",
        "部署窗口",
        "שלום עולם",
        "مرحبا",
        "👩‍💻 ❤️ 1️⃣ 👍🏽",
        "§ 5 °C ½ – …",
        "नमस्ते",
        "a b",
    ],
)
def test_ordinary_text_and_emoji_are_left_as_they_are(text: str) -> None:
    assert visible(text) == text
    assert hiding_kinds(text) == []


def test_what_hides_is_said_in_words() -> None:
    assert hiding_kinds("a\u202e\u202c\u200b\U000e0041\ufe00") == [
        "text direction control",
        "invisible character",
        "tag character",
        "variation selector",
    ]


@pytest.mark.parametrize(
    ("text", "mixed"),
    [
        ("pаypal", ["pаypal"]),  # with a Cyrillic а
        ("write to аnn@example.com today", ["аnn@example.com"]),
        ("αdmin", ["αdmin"]),
        ("ｐaypal", ["ｐaypal"]),
        ("Привет, world", []),
        ("файл.txt", []),
        ("東京タワーのWi-Fiカフェ", []),
        ("5 µm, Nº 3", []),
        ("ann@example.com", []),
    ],
)
def test_words_of_mixed_scripts_are_found(text: str, mixed: list[str]) -> None:
    assert mixed_words(text) == mixed


def test_a_disguised_recipient_is_warned_about_where_it_stands() -> None:
    assert preview({"to": ["a\u200bnn@b.ch", "bоb@b.ch"]}, JERUSALEM).warnings == [
        ("to[0]", "Has a hidden character: invisible character."),
        ("to[1]", "Mixes letters of different scripts: bоb@b.ch"),
    ]


def test_a_disguise_in_a_key_is_warned_about_too() -> None:
    assert preview({"t\u200bo": 1}, JERUSALEM).warnings == [
        ('["t⟦U+200B ZERO WIDTH SPACE⟧o"]', "Has a hidden character: invisible character.")
    ]


def test_links_are_shown_with_where_they_lead() -> None:
    text = "See [docs](https://docs.example.com/a_(b)), http://x.test:8080/?q=1. Mail mailto:ann@corp.test!"
    assert [(link.url, link.host, link.openable) for link in find_links(text)] == [
        ("https://docs.example.com/a_(b)", "docs.example.com", True),
        ("http://x.test:8080/?q=1", "x.test", True),
        ("mailto:ann@corp.test", "corp.test", True),
    ]


@pytest.mark.parametrize(
    ("url", "host", "warning"),
    [
        ("https://bank.example@evil.test/x", "evil.test", "What stands before the @"),
        ("https://pаypal.com/", "xn--pypal-4ve.com", "mixes letters of different scripts"),
        ("https://аррӏе.com/", "xn--80ak6aa92e.com", "mixes letters of different scripts"),
        ("javascript:alert(1)", "", "not a web address"),
        ("data:text/html,x", "", "not a web address"),
        ("https://[bad/", "", "not clear where this link leads"),
    ],
)
def test_links_that_deceive_are_warned_about_and_never_followed(url: str, host: str, warning: str) -> None:
    [link] = find_links(f"click {url}")
    assert link.host == host
    assert warning in " ".join(link.warnings)
    assert not link.openable


def test_a_host_in_other_letters_is_shown_as_written_and_as_on_the_wire() -> None:
    [link] = find_links("https://zürich.example/")
    assert (link.shown_host, link.host, link.openable) == ("zürich.example", "xn--zrich-kva.example", True)


def test_hosts_are_listed_once() -> None:
    payload = {"a": "https://x.test/1 https://x.test/2", "b": ["https://y.test"]}
    assert preview(payload, JERUSALEM).hosts == ["x.test", "y.test"]


def test_times_are_told_in_the_zone_of_the_space_with_their_offset() -> None:
    shown = preview({"start": "2026-05-27T18:00:00", "end": "2026-05-27T17:00:00Z"}, JERUSALEM)
    assert {r.name: r.local for r in shown.rows} == {
        "start": "2026-05-27 18:00:00 +03:00 (Asia/Jerusalem)",
        "end": "2026-05-27 20:00:00 +03:00 (Asia/Jerusalem)",
    }


@pytest.mark.parametrize(
    ("time", "doubt"),
    [
        ("2026-03-08T02:30", "clocks skip it"),
        ("2026-11-01T01:30", "Happens twice"),
        ("2026-02-30T10:00", "not a time that exists"),
    ],
)
def test_a_time_that_means_nothing_certain_is_warned_about(time: str, doubt: str) -> None:
    [row] = preview({"start": time}, NEW_YORK).rows
    assert row.local == ""
    assert doubt in row.warnings[0]


@pytest.mark.parametrize("text", ["{{kv.channel}}", "${SECRET}", "{% if x %}"])
def test_a_placeholder_is_shown_as_written_with_a_warning(text: str) -> None:
    [row] = preview({"channel": text}, JERUSALEM).rows
    assert row.text == text
    assert "placeholder" in row.warnings[0]
