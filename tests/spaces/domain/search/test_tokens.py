"""Whether the words people type meet the words that were stored."""

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spaces.domain.search.languages import LANGUAGES
from spaces.domain.search.names import LONGEST_LEXEME
from spaces.domain.search.tokens import document_words, holds_all_words, query_words


def stored(text: str, languages: tuple[str, ...] = ("en",)) -> set[str]:
    return {lexeme for word in document_words(text, languages) for lexeme in word.lexemes}


def asked(text: str, languages: tuple[str, ...] = ("en",)) -> set[str]:
    return {lexeme for word in query_words(text, languages) for lexeme in word.telling}


def shared(query: str, text: str, languages: tuple[str, ...] = ("en",)) -> set[str]:
    return asked(query, languages) & stored(text, languages)


FACTS = [
    "Ticket BENCH-100821 blocks the release",
    "The runner stops with exit code -32602 when arguments are missing",
    "There is a bug in src/billing/invoice_utils.py line 42",
    "To load a person, see getUserById()",
    "The fix is in PR #4521",
    "For access ask ann@example.com",
    "The server runs v1.2.10 since Monday",
    "Ana writes C++ every day",
    "Ana writes C# every day",
    "Ana writes .NET every day",
    "Deploy window is Tuesday 14:00 UTC",
]


@pytest.mark.parametrize(
    ("query", "fact"),
    [
        ("100821", FACTS[0]),
        ("bench 100821", FACTS[0]),
        ("bench-100821", FACTS[0]),
        ("BENCH_100821", FACTS[0]),
        ("BENCH100821", FACTS[0]),
        ("32602", FACTS[1]),
        ("-32602", FACTS[1]),
        ("invoice_utils.py", FACTS[2]),
        ("invoice_utils", FACTS[2]),
        ("invoiceUtils", FACTS[2]),
        ("billing/invoice_utils.py", FACTS[2]),
        ("src/billing/invoice_utils.py", FACTS[2]),
        ("UserById", FACTS[3]),
        ("getUserById", FACTS[3]),
        ("get_user_by_id", FACTS[3]),
        ("#4521", FACTS[4]),
        ("PR 4521", FACTS[4]),
        ("ann", FACTS[5]),
        ("ann@example.com", FACTS[5]),
        ("example.com", FACTS[5]),
        ("v1.2.10", FACTS[6]),
        ("1.2.10", FACTS[6]),
        ("v1.2", FACTS[6]),
        ("C++", FACTS[7]),
        ("c++?", FACTS[7]),
        ("C#", FACTS[8]),
        (".NET", FACTS[9]),
        ("net", FACTS[9]),
        ("why did we choose the deploy window", FACTS[10]),
        ("14:00", FACTS[10]),
    ],
)
def test_what_a_person_would_type_meets_one_fact_more_than_any_other(query: str, fact: str) -> None:
    met = {text: len(shared(query, text)) for text in FACTS}
    assert [text for text in FACTS if met[text] == max(met.values())] == [fact]


@pytest.mark.parametrize(
    ("query", "text"),
    [
        ("Zurich", "Zürich office"),
        ("ZÜRICH", "Zürich office"),
        ("zu\u0308rich", "Zürich office"),
        ("istanbul", "İstanbul"),
        ("İstanbul", "istanbul"),
        ("diyarbakir", "DİYARBAKIR"),
        ("Diyarbakır", "diyarbakir"),
        ("resume", "two résumés"),
        ("Lodz", "Łódź"),
        ("strasse", "Straße"),
        ("Malmo", "Malmö"),
        ("4521", "٤٥٢١"),
        ("file", "ﬁle"),
        ("ＡＢＣ", "abc"),
        ("databases", "data-base"),
        ("wifi", "Wi-Fi"),
        ("wi-fi", "wifi"),
        ("github", "GitHub's API"),
        ("git hub", "GitHub"),
        ("url", "URLs"),
        ("nodejs", "Node.js"),
        ("O’Brien", "obrien"),
        ("don't panic", "Don’t PANIC"),
        ("5000", "$5,000"),
        ("5,000", "5000"),
        ("1234.56", "1,234.56"),
        ("20240508", "2024-05-08"),
        ("3eb6f2c", "3eb6f2c9a1b2c3d4e5f60718293a4b5c6d7e8f90"),
        ("3eb6f2c9a1", "3eb6f2c9a1b2c3d4e5f60718293a4b5c6d7e8f90"),
        ("3eb6f2c9a1b2c3d4e5f60718293a4b5c6d7e8f90", "fixed in 3eb6f2c"),
        ("python", "python3.11"),
        ("c++", "C++17"),
        ("vector", "std::vector"),
        ("ann", r"C:\Users\ann\notes.txt"),
        ("workflows", ".github/workflows/ci.yml"),
        ("pull 4521", "https://github.com/acme/hub/pull/4521?tab=files#diff"),
        ("github.com/acme/hub/pull/4521", "see https://github.com/acme/hub/pull/4521?tab=files"),
        ("src/a.py", "fails at src/a.py:42, src/b.py:7"),
        ("USA", "U.S.A."),
        ("R&D", "the R&D team"),
        ("password", "pass\u200bword"),
        ("部署", "部署窗口是周二下午"),
        ("周二", "部署窗口是周二下午"),
        ("docker 部署", "用docker部署"),
        ("火曜", "会議は火曜日"),
        ("火", "会議は火曜日"),
        ("日", "会議は火曜日"),
        ("ガギ", "ｶﾞｷﾞ"),
        ("か\u3099", "が"),
        ("회의", "회의는 화요일"),
        ("ประชุม", "การประชุมวันอังคาร"),
        ("שלום", "שָׁלוֹם עולם"),
        ("مرحبا", "مَرْحَبًا بالعالم"),
        ("الاجتماع", "اجتماع يوم الثلاثاء"),
        ("совещания", "совещание во вторник"),
        ("елка", "ёлка"),
        ("συνάντηση", "η συναντηση"),
        ("हिन्दी", "हिन्दी में लिखो"),
        ("👍", "shipped 👍🏽"),
        ("❤", "❤️"),
        ("👩", "👨‍👩‍👧"),
    ],
)
def test_the_same_word_written_otherwise_is_met(query: str, text: str) -> None:
    assert shared(query, text)


@pytest.mark.parametrize(
    ("query", "text"),
    [
        ("C++", "C#"),
        ("C#", "the letter C"),
        ("C", "C++"),
        (".NET", "C#"),
        ("か", "が"),
        ("1.2", "12"),
        ("🇯🇵", "🇵🇱"),
        ("cat", "category"),
        ("api", "a.py"),
    ],
)
def test_another_word_is_not_met(query: str, text: str) -> None:
    assert shared(query, text) == set()


def test_a_part_of_a_longer_run_of_characters_is_held_whole() -> None:
    assert holds_all_words(query_words("火曜日の会議"), "次回は火曜日の会議です")
    assert holds_all_words(query_words("火曜 会議"), "会議は火曜日")
    assert not holds_all_words(query_words("水曜 会議"), "会議は火曜日")


@pytest.mark.parametrize(
    ("query", "text"),
    [
        ("BENCH-100821", "bench 100821"),
        ("bench 100821", "BENCH-100821"),
        ("invoice_utils.py", "src/billing/invoice_utils.py"),
        ("what is the deploy window", "Deploy windows are on Tuesday"),
        ("v1.2.10", "1.2.10"),
        ("databases", "data-base"),
    ],
)
def test_all_words_are_held(query: str, text: str) -> None:
    assert holds_all_words(query_words(query), text)


@pytest.mark.parametrize(
    ("query", "text"),
    [
        ("deploy window", "Deploy on Tuesday"),
        ("1.2.10", "in 1 of 2 cases, 10 times"),
        ("1.2.10", "1.2.9"),
        ("src/billing/invoice_utils.py", "invoice_utils.py"),
        ("up-to-date", "a date"),
        ("C++", "C"),
        (".env", "the env"),
        ("2024-05-08", "2024-08-05"),
    ],
)
def test_something_less_is_not_all_words(query: str, text: str) -> None:
    assert not holds_all_words(query_words(query), text)


def test_all_words_may_lie_in_different_texts() -> None:
    assert holds_all_words(query_words("ana deploy"), "Deploy on Tuesday", "Ana")


def test_stop_words_are_left_out_unless_there_is_nothing_else() -> None:
    assert [word.text for word in query_words("What is the deploy window?")] == ["deploy", "window"]
    assert [word.text for word in query_words("What is it about the")] == ["What", "is", "it", "about", "the"]
    assert asked("UserById") == {"userbyid", "user", "id"}


@pytest.mark.parametrize(
    "query", ["", "   ", "???", "\u200b", "____", "\x00", "\ud83d", "'\"\\", "& | ! ( ) <->", "%"]
)
def test_without_a_word_there_is_nothing_to_ask(query: str) -> None:
    assert query_words(query) == []


def test_words_of_another_language_are_stemmed_when_it_is_asked_for() -> None:
    assert shared("häuser", "Haus", ("de",))
    assert shared("canciones", "canción", ("en", "es"))
    assert shared("running", "runs", ("en", "es"))
    assert [word.text for word in query_words("wo ist das Haus", ("de",))] == ["Haus"]


def test_a_language_without_a_stemmer_changes_nothing() -> None:
    assert shared("Haus", "haus", ("xx",))


def test_base64_and_minified_code_do_not_explode() -> None:
    base64 = "aGVsbG8gd29ybGQgdGhpcyBpcyBiYXNlNjQ" * 900
    assert len(stored(base64)) == 1
    assert all(len(lexeme) <= LONGEST_LEXEME for lexeme in stored("x" * 30_000 + " " + "a=b&c/" * 5_000))


def test_thirty_kilobytes_of_log_are_read() -> None:
    line = '2026-05-08T14:00:03.123Z ERROR [worker-7] (db) "PSQL" failed: code=-32602 path=/var/log/x.log\n'
    words = stored(line * 320)
    assert {"error", "32602", "worker-7", "fail", "var/log/x.log"} <= words


@given(st.text(st.characters()))
def test_any_text_is_read_and_holds_itself(text: str) -> None:
    words = query_words(text)
    assert holds_all_words(words, text)
    for word in words:
        assert word.leaves
        for lexeme in word.lexemes:
            assert 0 < len(lexeme) <= LONGEST_LEXEME
            assert not set(lexeme) & set("'\\\x00 ")
            lexeme.encode()


LETTERS = st.text(st.characters(categories=["L", "M", "Nd"]), min_size=1, max_size=16)


@given(LETTERS)
def test_any_word_is_read_in_every_language_at_once(text: str) -> None:
    languages = tuple(LANGUAGES)
    assert holds_all_words(query_words(text, languages), text, languages=languages)


@given(st.text("abzAZ019éß_.-/\\:@#&=+~'?%, 会火カ\u0e01\u0301İ", max_size=40))
def test_words_are_the_same_in_every_unicode_form_and_case(text: str) -> None:
    assert stored(unicodedata.normalize("NFD", text)) == stored(unicodedata.normalize("NFC", text))
