import pytest

from spaces.domain.search.timewords import asks_for_time, tells_time


@pytest.mark.parametrize(
    "text",
    [
        "We met on 5 May",
        "may 5 it is",
        "SEE YOU MONDAY",
        "last week we moved",
        "it took 3 weeks",
        "since 1998",
        "at 14:30",
        "at 5pm",
        "the 3rd time",
        "c'est aujourd'hui",
        "le 2 février",
        "en août",
        "вчера мы переехали",
        "来週の火曜",
        "下周开会",
        "다음 주에 만나요",
    ],
)
def test_texts_that_tell_a_time(text: str) -> None:
    assert tells_time(text)


@pytest.mark.parametrize(
    "text",
    ["You may go", "mayor", "weekly", "the next one", "marching", "version 3", "東京に住む", "", "a week"],
)
def test_texts_that_tell_none(text: str) -> None:
    assert not tells_time(text)


@pytest.mark.parametrize(
    "question", ["When was it?", "which year", "Wann war das?", "いつですか", "¿Cuándo?"]
)
def test_questions_that_ask_for_a_time(question: str) -> None:
    assert asks_for_time(question)


@pytest.mark.parametrize("question", ["Whenever it rains?", "Who was it?", "a whenwhere"])
def test_questions_that_ask_for_something_else(question: str) -> None:
    assert not asks_for_time(question)
