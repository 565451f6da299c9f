import re

import pytest

from memoryhub.common.tenancy import tenant
from spaces.domain.journal import Log, list_journal, write_journal
from spaces.domain.memories import find_memories, remember
from tests.conftest import Cast
from tests.pages import SPACE, browser_of, text_of

PAGE = f"{SPACE}/forget/"


@pytest.fixture(autouse=True)
def memories(cast: Cast) -> None:
    with tenant(cast.account.id):
        remember(cast.agent, text="The vault code is 4711")
        remember(cast.agent, text="The vault door is green")
        remember(cast.agent, text="Something else")


def texts(cast: Cast) -> set[str]:
    with tenant(cast.account.id):
        return {memory.text for memory in find_memories(cast.agent).page.items}


def form_in(page: str) -> dict[str, str]:
    """The hidden fields of the confirming form."""
    confirming = page.partition("forget-confirm")[2]
    return dict(re.findall(r'name="(query|scopes|digest)" value="([^"]*)"', confirming))


def test_every_row_that_would_go_is_listed_and_nothing_goes_yet(cast: Cast) -> None:
    shown = text_of(browser_of(cast.teammate).get(PAGE, {"query": "vault"}))
    assert "2 rows would be forgotten" in shown
    assert "The vault code is 4711" in shown
    assert "The vault door is green" in shown
    assert "Something else" not in shown
    assert len(texts(cast)) == 3


def test_confirmed_exactly_those_are_forgotten(cast: Cast) -> None:
    client = browser_of(cast.teammate)
    form = form_in(text_of(client.get(PAGE, {"query": "vault"})))
    answer = client.post(PAGE, {**form, "confirm": "Forget "}, follow=True)
    assert "2 rows are forgotten." in text_of(answer)
    assert texts(cast) == {"Something else"}


def test_without_the_typed_word_nothing_is_forgotten(cast: Cast) -> None:
    client = browser_of(cast.teammate)
    form = form_in(text_of(client.get(PAGE, {"query": "vault"})))
    answer = client.post(PAGE, {**form, "confirm": "yes"})
    assert answer.status_code == 422
    assert "Type the word “forget” to confirm." in text_of(answer)
    assert len(texts(cast)) == 3


def test_a_row_that_came_in_between_is_not_forgotten_unseen(cast: Cast) -> None:
    client = browser_of(cast.teammate)
    form = form_in(text_of(client.get(PAGE, {"query": "vault"})))
    with tenant(cast.account.id):
        remember(cast.agent, text="The vault has a new code")
    answer = client.post(PAGE, {**form, "confirm": "forget"})
    assert answer.status_code == 409
    assert "The list has changed since it was shown." in text_of(answer)
    assert "3 rows would be forgotten" in text_of(answer)
    assert len(texts(cast)) == 4


def test_journal_entries_lose_only_the_phrase_unless_told_otherwise(cast: Cast) -> None:
    with tenant(cast.account.id):
        from datetime import date

        write_journal(cast.agent, date(2026, 1, 5), Log(summary="Changed the vault code today."))
    client = browser_of(cast.teammate)
    shown = text_of(client.get(PAGE, {"query": "vault code", "scopes": "journal"}))
    client.post(PAGE, {**form_in(shown), "confirm": "forget"})
    with tenant(cast.account.id):
        entries = list_journal(cast.agent).items
    assert len(entries) == 1
    assert "vault code" not in entries[0].summary
    assert "today" in entries[0].summary


def test_a_viewer_may_not_even_look(cast: Cast) -> None:
    answer = browser_of(cast.viewer).get(PAGE, {"query": "vault"})
    assert "vault code is" not in text_of(answer)


def test_a_query_that_says_nothing_is_told_beside_its_field(cast: Cast) -> None:
    answer = browser_of(cast.teammate).get(PAGE, {"query": "ab"})
    assert answer.status_code == 422
    assert "Must have a word" in text_of(answer)
