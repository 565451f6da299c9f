"""The page on which a person lets a hosted client in."""

import pytest

from accounts.domain.credentials import authenticate
from accounts.models import Grant
from accounts.scopes import Scope
from tests.conftest import Cast
from tests.oauth import HERE, MCP, answer_to, bearer, browser_for, connect, returned, visitor
from tests.pages import text_of

pytestmark = pytest.mark.django_db


def test_a_client_is_let_in_with_what_was_agreed_to(cast: Cast) -> None:
    tokens = connect(cast.teammate, cast.space.id)
    actor = authenticate(bearer(tokens), address="192.0.2.1", resource=MCP)
    grant = Grant.objects.get()
    assert (actor.kind, actor.key_id, actor.user_id) == ("grant", grant.id, cast.teammate.user_id)
    assert actor.scopes == {Scope.MEMORY_READ, Scope.MEMORY_WRITE}
    assert (actor.default_space_id, actor.space_ids) == (cast.space.id, {cast.space.id})
    assert actor.name == "Visitor"


def test_the_page_names_the_client_where_its_answer_goes_and_what_it_may(cast: Cast) -> None:
    shown = browser_for(cast.teammate).get(visitor().question())
    text = text_of(shown)
    for part in ("Visitor", "client.example", "Read and search memories", "Remember things", cast.space.name):
        assert part in text
    assert "form-action 'self' https://client.example" in shown["Content-Security-Policy"]


def test_no_is_told_to_the_client(cast: Cast) -> None:
    back = returned(
        answer_to(browser_for(cast.teammate), visitor().question(), cast.space.id, decision="deny")
    )
    assert (back["error"], back["state"], back["iss"]) == ("access_denied", "s-1", HERE)
    assert not Grant.objects.exists()
